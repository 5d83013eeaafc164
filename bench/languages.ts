/**
 * Ranking quality by language, as JSON: nDCG@10 of plain BM25 (quality/plain-bm25.ts), of our BM25F, of the fusion where nothing was learned, which is what a
 * search without reranking answers with, and of the default; each with its paired difference from plain BM25. Collections are folders as in ../shared/data/ir,
 * whose names end with their language (`xquad-de`). Queries are split by the lowest bit of the SHA-256 of their ids: half `a` is to be looked at, half `b` to be reported.
 * Usage: npm run bench:languages -- [--data folder] [--queries n] [--out file] [collection …]
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openWordVectors } from '../src/compute/embedding/word-vectors.ts';
import { ndcg } from '../src/compute/measures/ranking-measures.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';
import { describeMachine } from './machine.ts';
import { collectionNames, prepareCollections } from './quality/collections.ts';
import { mean, pairedTest } from './quality/measures.ts';
import { plainBm25 } from './quality/plain-bm25.ts';
import { createQueryTools, runQuery } from './quality/run-query.ts';

const SEED = 42;
const DIM = 1024;
const COLUMNS = ['plain', 'bm25', 'fused', 'default'] as const;
type Column = (typeof COLUMNS)[number];

const { values, positionals } = parseArgs({
  options: {
    data: { type: 'string', default: join(import.meta.dirname, '../../shared/data/ir') },
    queries: { type: 'string', default: 'Infinity' },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const languageOf = (name: string) => /-([a-z]{2})$/.exec(name)?.[1];
const names = collectionNames(values.data).filter(
  (name) => languageOf(name) !== undefined && (positionals.length === 0 || positionals.includes(name)),
);
const tools = createQueryTools(openWordVectors(loadWordVectors()), DIM);
const round = (value: number) => Math.round(value * 10_000) / 10_000;

const measured = [];
const byQuery: Record<string, unknown> = {};
for (const name of names) {
  const plain = await plainBm25(join(values.data, name), languageOf(name) ?? '');
  for (const collection of prepareCollections(values.data, [name], Number(values.queries), false, tools)) {
    const rows = collection.queries.map(({ id, text, grades }) => {
      const { ranked } = runQuery(collection, text, tools);
      const lists = { ...ranked, plain: plain(text).map((document) => `${name}/${document}`) };
      const gains = Object.fromEntries(COLUMNS.map((column) => [column, ndcg(lists[column], grades, 10)]));
      return { id, text, half: halfOf(id), gains: gains as Record<Column, number> };
    });
    byQuery[name] = rows;
    const halves = (['a', 'b'] as const).map((half) => {
      const of = (column: Column) => rows.filter((row) => row.half === half).map(({ gains }) => gains[column]);
      const against = (column: Column) => {
        const { difference, p } = pairedTest(of('plain'), of(column), SEED);
        return { difference: round(difference), p: round(p) };
      };
      const means = Object.fromEntries(COLUMNS.map((column) => [column, round(mean(of(column)))]));
      return [
        half,
        {
          queries: of('plain').length,
          ...means,
          fused_against_plain: against('fused'),
          default_against_plain: against('default'),
        },
      ];
    });
    const row = {
      name,
      documents: collection.documents,
      languages: collection.languages,
      ...Object.fromEntries(halves),
    };
    measured.push(row);
    console.error(JSON.stringify(row));
  }
}
if (values.out !== undefined) writeFileSync(values.out, JSON.stringify(byQuery));
console.log(JSON.stringify({ bench: 'languages', machine: describeMachine(), seed: SEED, measured }, null, 1));

function halfOf(id: string): 'a' | 'b' {
  return (createHash('sha256').update(id).digest()[31] & 1) === 0 ? 'a' : 'b';
}
