/**
 * Questions of ../shared/data/ir/xquad-de with and without what a search knows of compounds, as JSON: nDCG@10 by words as they are, and
 * with the first compound of each replaced by its head, by its first part, and by all of its parts as words. Weights were chosen on questions 301 to
 * 745; those after were kept.
 * Usage: npm run bench -- compounds
 */
import { join } from 'node:path';
import { ndcg } from '../src/compute/ranking/score-run.ts';
import { COMPOUND, PART } from '../src/engine/words/compounds.ts';
import { wordsIn } from '../src/engine/words/spelling.ts';
import { describeMachine } from './machine.ts';
import { createQueryTools, prepareCollection } from './quality/collections.ts';
import { askWords } from './quality/judged-lists.ts';
import { mean, quantile } from './quality/measures.ts';

const language = 'de';
const root = join(import.meta.dirname, '../../shared/data/ir');
const tools = createQueryTools();
const collection = prepareCollection(root, 'xquad-de', Number.POSITIVE_INFINITY, tools);
const known = wordsIn(collection.corpus);

/** A query with its first compound replaced; null where it has none. */
function replaced(text: string, by: (parts: readonly string[]) => string): string | null {
  for (const { 0: word, index } of text.matchAll(/\p{L}{8,}/gu)) {
    const [folded] = tools.analyzer.terms(word).words;
    const parts = known.parts(folded, language);
    if (parts.length > 0) return text.slice(0, index) + by(parts) + text.slice(index + word.length);
  }
  return null;
}

const variants = {
  as_they_are: (text: string) => text,
  head: (text: string) => replaced(text, (parts) => parts[parts.length - 1]),
  first_part: (text: string) => replaced(text, ([first]) => first),
  parts_apart: (text: string) => replaced(text, (parts) => parts.join(' ')),
};
const { queries } = collection;
const parts = { first_300: queries.slice(0, 300), chosen_on: queries.slice(300, 745), kept: queries.slice(745) };
const round = (value: number) => Math.round(value * 10_000) / 10_000;
const measured = Object.entries(parts).flatMap(([part, asked]) =>
  Object.entries(variants).map(([variant, change]) => {
    const changed = asked.flatMap(({ text, grades }) => {
      const query = change(text);
      return query === null ? [] : [{ query, grades }];
    });
    const runs = (isKnown: boolean) =>
      changed.map(({ query, grades }) => {
        const { sparse, analyseMs } = askWords(collection, query, tools, (all) =>
          isKnown ? all : { ...all, parts: () => [], compounds: () => [] },
        );
        const ranked = Array.from(sparse.labels, (label) => collection.documentOf[label]);
        return { ndcg: ndcg(ranked, grades, 10), ms: analyseMs };
      });
    const [without, with_] = [runs(false), runs(true)];
    return {
      part,
      variant,
      queries: changed.length,
      bm25f_without: round(mean(without.map((run) => run.ndcg))),
      bm25f_with: round(mean(with_.map((run) => run.ndcg))),
      analyse_ms_p50: [without, with_].map((runs) =>
        round(
          quantile(
            runs.map(({ ms }) => ms),
            0.5,
          ),
        ),
      ),
    };
  }),
);
console.log(
  JSON.stringify({ bench: 'compounds', machine: describeMachine(), weights: { PART, COMPOUND }, measured }, null, 1),
);
