/**
 * Names that the built-in encoder finds in the texts of ../shared/data/ner against their gold labels, as JSON: all documents, and both
 * halves; the weights were trained on the even ones only (scripts/train-names.ts).
 * Usage: npm run bench -- entities [--crossner FOLDER] [--weights FOLDER] [--merges N]
 *   --crossner  `ner_data` of zliucr/CrossNER: its science, literature and music, `test`
 *   --weights   a folder with other files of the encoder
 *   --merges    only N automatic merges, drawn at random (seed 42), of a library of the passages of ../shared/data/ir, topics and ner
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { nameTypes } from '../src/compute/text/name-tags.ts';
import { namesOfPage } from '../src/compute/text/page-names.ts';
import { builtInModel } from '../src/domain/model.ts';
import { Encoder } from '../src/encoder/encoder.ts';
import {
  type ComparedType,
  collections,
  crossNerDomains,
  type GoldDocument,
  readCrossNer,
  readGold,
  type Span,
} from './entities/gold.ts';
import { mergedNames } from './entities/merged-names.ts';
import { scoreSpans } from './entities/score-spans.ts';
import { describeMachine } from './machine.ts';

const data = join(import.meta.dirname, '../../shared/data');
const { values } = parseArgs({
  options: { merges: { type: 'string' }, weights: { type: 'string' }, crossner: { type: 'string' } },
});
const quiet = { info: () => {}, warn: () => {} };
const encoder = new Encoder({ dim: builtInModel.dim, dir: values.weights, log: quiet });
const compared: Readonly<Record<(typeof nameTypes)[number], ComparedType>> = {
  person: 'PER',
  organization: 'ORG',
  place: 'LOC',
  other: 'MISC',
};
const textsAtOnce = 64;

async function namesOf(texts: readonly string[]) {
  const pages = [];
  for (let from = 0; from < texts.length; from += textsAtOnce) {
    const some = texts.slice(from, from + textsAtOnce);
    const { names } = await encoder.encode(some, 'passage');
    pages.push(...some.map((text, at) => namesOfPage(null, text, names[at])));
  }
  return pages;
}

async function measure(documents: readonly GoldDocument[]) {
  const began = performance.now();
  const found = await namesOf(documents.map(({ text }) => text));
  const ms = performance.now() - began;
  // Events have no type of their own.
  const merged = (spans: Span[]) =>
    spans.map((span) => (span.type === 'EVENT' ? { ...span, type: 'MISC' as const } : span));
  const pages = documents.map(({ text, entities }, at) => ({
    gold: merged(entities),
    found: found[at].flatMap(({ type, forms }) =>
      forms.flatMap(([, places]) =>
        places.flatMap((start, place) =>
          place % 2 === 1
            ? []
            : [{ type: compared[type], start, end: places[place + 1], text: text.slice(start, places[place + 1]) }],
        ),
      ),
    ),
  }));
  const words = documents.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);
  const half = (parity: number) => {
    const { exact, names } = scoreSpans(pages.filter((_, at) => at % 2 === parity));
    return { exact_f1: exact.f1, names_f1: names.f1 };
  };
  const perWords = Math.round((ms / words) * 10_000) / 10;
  return { ...scoreSpans(pages), even_half: half(0), odd_half: half(1), encoder_ms_per_1000_words: perWords };
}

/** A library of what there is to read. */
function passages(): string[] {
  const texts = collections.flatMap(({ name }) => readGold(join(data, 'ner'), name).map(({ text }) => text));
  for (const kind of ['ir', 'topics']) {
    for (const name of readdirSync(join(data, kind))) {
      const path = name.endsWith('.jsonl') ? join(data, kind, name) : join(data, kind, name, 'corpus.jsonl');
      if (!existsSync(path)) continue;
      const lines = readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .slice(0, withManyNames.test(name) ? 1500 : 150);
      for (const line of lines) texts.push((JSON.parse(line) as { text: string }).text);
    }
  }
  return texts;
}
/** News and encyclopedias: of these more passages are read than of others. */
const withManyNames = /^(?:ag-news|boolq|clapnq|multihop|squad)/;

if (values.merges !== undefined) {
  const found = mergedNames(await namesOf(passages()));
  let seed = 42;
  const drawn = found.merged
    .flatMap(([first, ...others]) => others.map((other) => [first, other]))
    .map((pair) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return { pair, chance: seed };
    })
    .sort((a, b) => a.chance - b.chance)
    .slice(0, Number(values.merges));
  const sample = drawn.map(({ pair }) => pair.join(' = '));
  console.log(JSON.stringify({ names: found.names, merges: found.merges, sample }, null, 1));
} else {
  const given = values.crossner;
  const more = (given === undefined ? [] : crossNerDomains).map((domain) => ({
    name: `crossner-${domain}`,
    documents: readCrossNer(given ?? '', domain, 'test'),
  }));
  const known = collections.map(({ name }) => ({ name, documents: readGold(join(data, 'ner'), name) }));
  const measured = [];
  for (const { name, documents } of [...known, ...more]) {
    await encoder.encode([documents[0].text], 'passage'); // warm
    measured.push({ name, documents: documents.length, readback: await measure(documents) });
  }
  console.log(JSON.stringify({ machine: describeMachine(), collections: measured }, null, 1));
}
await encoder.close();
