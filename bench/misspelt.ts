/**
 * Misspelt queries over the collections of ../shared/data/ir, as JSON: nDCG@10 by words for the queries as they are, for the same with
 * planted errors, and for these without correction. Errors go into one or two of a query's words of five letters and more that the
 * collection has, as people make them: a letter left out, doubled, replaced or added, two swapped, or one spelling of a sound for
 * another (`f` for `ph`, `k` for `c`); what comes out is no word of the collection. Queries without such a word are left out.
 * Usage: npm run bench -- misspelt [collection …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ndcg } from '../src/compute/ranking/score-run.ts';
import { documentFrequency } from '../src/engine/words/corpus.ts';
import type { KnownWords } from '../src/engine/words/spelling.ts';
import { noWords } from '../test/engine/words/small-corpus.ts';
import { describeMachine } from './machine.ts';
import {
  collectionNames,
  createQueryTools,
  type PreparedCollection,
  prepareCollection,
} from './quality/collections.ts';
import { askWords } from './quality/judged-lists.ts';
import { mean, quantile } from './quality/measures.ts';
import { randomStream } from './workload.ts';

const MAX_QUERIES = 300;
const SEED = 42;
const SOUNDS: readonly (readonly [string, string])[] = [
  ['ph', 'f'],
  ['c', 'k'],
  ['k', 'c'],
  ['ie', 'ei'],
  ['ei', 'ie'],
  ['s', 'c'],
  ['y', 'i'],
  ['tt', 't'],
  ['ll', 'l'],
  ['z', 's'],
  ['ou', 'u'],
  ['ea', 'ee'],
];
const root = join(import.meta.dirname, '../../shared/data/ir');
const { positionals } = parseArgs({ allowPositionals: true });
const names = collectionNames(root).filter((name) => positionals.length === 0 || positionals.includes(name));
const tools = createQueryTools();

/** Of what a corpus knows of words its languages alone. */
const languagesAlone = ({ languages, spoken }: KnownWords): KnownWords => ({ ...noWords, languages, spoken });

const measured = names.map((name) => {
  const collection = prepareCollection(root, name, MAX_QUERIES, tools);
  const queries = collection.queries.flatMap((query, number) => {
    const text = misspelt(collection, query.text, number);
    return text === null ? [] : [{ ...query, misspelt: text }];
  });
  const values = (textOf: (query: (typeof queries)[number]) => string, spelling: boolean) =>
    queries.map((query) => {
      const { sparse } = askWords(collection, textOf(query), tools, spelling ? undefined : languagesAlone);
      const ranked = Array.from(sparse.labels, (label) => collection.documentOf[label]);
      return ndcg(ranked, query.grades, 10);
    });
  const clean = mean(values(({ text }) => text, false));
  const asIs = mean(values(({ text }) => text, true));
  const wrong = mean(values(({ misspelt }) => misspelt, false));
  const corrected = mean(values(({ misspelt }) => misspelt, true));
  const took = queries.map(({ misspelt }) => askWords(collection, misspelt, tools).analyseMs);
  return {
    name: collection.name,
    queries: queries.length,
    ndcg_10: roundAll({ clean, clean_with_correction: asIs, misspelt: wrong, corrected }),
    of_clean: roundAll({ misspelt: wrong / clean, corrected: corrected / clean }),
    analyse_ms: roundAll({ p50: quantile(took, 0.5), p95: quantile(took, 0.95) }),
  };
});
const meanOf = (value: (each: (typeof measured)[number]) => number) =>
  Math.round(mean(measured.map(value)) * 1000) / 1000;
console.log(
  JSON.stringify(
    {
      bench: 'misspelt',
      machine: describeMachine(),
      seed: SEED,
      collections: measured,
      mean_of_clean: {
        misspelt: meanOf(({ of_clean }) => of_clean.misspelt),
        corrected: meanOf(({ of_clean }) => of_clean.corrected),
        clean_with_correction: meanOf(({ ndcg_10 }) => ndcg_10.clean_with_correction / ndcg_10.clean),
      },
    },
    null,
    1,
  ),
);

/** The query with errors, or null where it has no word for them. */
function misspelt({ corpus }: PreparedCollection, text: string, number: number): string | null {
  const random = randomStream(SEED, number, 0);
  const words = [...text.matchAll(/(?<![\p{L}\p{M}\p{N}])\p{L}[\p{L}\p{M}]{4,}(?![\p{L}\p{M}\p{N}])/gu)];
  const isKnown = (word: string) =>
    tools.analyzer.terms(word).stems.some((stem) => documentFrequency(corpus, stem) > 0);
  const fit = words.filter(({ 0: word }) => isKnown(word));
  if (fit.length === 0) return null;
  const wanted = Math.min(fit.length, 1 + Math.floor(random() * 2));
  const chosen = new Set<number>();
  while (chosen.size < wanted) chosen.add(Math.floor(random() * fit.length));
  let changed = text;
  for (const at of [...chosen].sort((a, b) => b - a)) {
    const { 0: word, index } = fit[at];
    for (let tries = 0; tries < 20; tries++) {
      const wrong = withError(word, random);
      if (wrong === word || isKnown(wrong)) continue;
      changed = changed.slice(0, index) + wrong + changed.slice(index + word.length);
      break;
    }
  }
  return changed === text ? null : changed;
}

function withError(word: string, random: () => number): string {
  const characters = [...word];
  const at = 1 + Math.floor(random() * (characters.length - 1));
  const other = characters[Math.floor(random() * characters.length)].toLowerCase();
  const kind = Math.floor(random() * 6);
  if (kind === 0) characters.splice(at, 1);
  else if (kind === 1) characters.splice(at, 0, characters[at]);
  else if (kind === 2) characters[at] = other;
  else if (kind === 3) characters.splice(at, 0, other);
  else if (kind === 4) [characters[at - 1], characters[at]] = [characters[at], characters[at - 1]];
  else {
    const fitting = SOUNDS.filter(([sound]) => word.slice(1).toLowerCase().includes(sound));
    if (fitting.length === 0) return word;
    const [sound, written] = fitting[Math.floor(random() * fitting.length)];
    return word[0] + word.slice(1).replace(new RegExp(sound, 'i'), written);
  }
  return characters.join('');
}

function roundAll<Values extends Record<string, number>>(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Math.round(value * 10_000) / 10_000]),
  ) as Values;
}
