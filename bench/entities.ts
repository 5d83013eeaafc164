/**
 * Entities found in the texts of ../shared/data/ner against their gold labels, as JSON: the service's recogniser, compromise alone
 * and wink alone on the same text; all documents, and both halves: rules were chosen looking at the even ones only.
 * Usage: npm run bench:entities [-- --tagger FILE] [--crossner FOLDER]     FOLDER: `ner_data` of zliucr/CrossNER; its science, literature
 * and music, where rules were chosen looking at `dev` and `train` only, and of these and the even documents the tagger learned
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadNameTagger } from '../src/actors/entities/load-name-tagger.ts';
import { openWordVectors } from '../src/compute/embedding/word-vectors.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';
import { collections, crossNerDomains, type GoldDocument, readCrossNer, readGold } from './entities/gold.ts';
import { scoreSpans } from './entities/score-spans.ts';
import { compromiseSystem, readbackSystem, type System, winkSystem } from './entities/systems.ts';
import { describeMachine } from './machine.ts';

const root = join(import.meta.dirname, '../../shared/data/ner');
const { values } = parseArgs({
  options: {
    tagger: { type: 'string' },
    crossner: { type: 'string' },
  },
});
const systems: Readonly<Record<string, System>> = {
  readback: readbackSystem(openWordVectors(loadWordVectors()), loadNameTagger(values.tagger)),
  compromise: compromiseSystem(),
  wink: winkSystem(),
};

function run(system: System, documents: readonly GoldDocument[], hasEvents: boolean) {
  const began = performance.now();
  const pages = documents.map(({ text, entities: gold }) => ({ gold, found: system(text, hasEvents) }));
  const ms = performance.now() - began;
  const words = documents.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);
  const half = (parity: number) => scoreSpans(pages.filter((_, at) => at % 2 === parity));
  const brief = ({ exact, names, properNames }: ReturnType<typeof half>) => ({
    exact_f1: exact.f1,
    names_f1: names.f1,
    proper_names_f1: properNames.f1,
  });
  return {
    ...scoreSpans(pages),
    even_half: brief(half(0)),
    odd_half: brief(half(1)),
    ms_per_1000_words: Math.round((ms / words) * 10_000) / 10,
  };
}

const given = values.crossner;
const more =
  given === undefined
    ? []
    : crossNerDomains.flatMap((domain) =>
        [['dev', 'train'], ['test']].map((parts) => ({
          name: `crossner-${domain} ${parts.join('+')}`,
          hasEvents: true,
          documents: parts.flatMap((part) => readCrossNer(given, domain, part)),
        })),
      );
const known = collections.map((each) => ({ ...each, documents: readGold(root, each.name) }));
const measured = [...known, ...more].map(({ name, hasEvents, documents }) => {
  for (const system of Object.values(systems)) system(documents[0].text, hasEvents); // warm
  return {
    name,
    documents: documents.length,
    systems: Object.fromEntries(Object.entries(systems).map(([of, system]) => [of, run(system, documents, hasEvents)])),
  };
});
console.log(
  JSON.stringify(
    {
      machine: describeMachine(),
      collections: measured,
    },
    null,
    1,
  ),
);
