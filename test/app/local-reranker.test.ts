import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { prepareCollections } from '../../bench/quality/collections.ts';
import { createQueryTools, runQuery } from '../../bench/quality/run-query.ts';
import { openWordVectors } from '../../src/compute/embedding/word-vectors.ts';
import { searchRequest } from '../../src/domain/search.ts';
import { loadWordVectors } from '../../src/engine/load-word-vectors.ts';
import { temporaryFolder } from '../scope.ts';
import { library, WholeSystem } from './whole-system.ts';

const DIM = 1024;
const collections = join(import.meta.dirname, '../../../shared/data/ir');
const cranfield = join(collections, 'cranfield');

const wordVectors = openWordVectors(loadWordVectors());
const tools = createQueryTools(wordVectors, DIM);
/** How far the service's scores may be from the bench's: the service's vectors are rounded to int8, the bench's are not. */
const TOLERANCE = 0.02;

type Pages = Record<string, { title: string; text: string }>;

/** What the quality bench makes of the same pages: its answers are what docs/ranking.md has the numbers of. */
function benchOver(t: TestContext, pages: Pages, queries: readonly string[]) {
  const root = temporaryFolder(t);
  mkdirSync(join(root, 'pages'));
  const write = (file: string, rows: readonly string[]) => writeFileSync(join(root, 'pages', file), rows.join('\n'));
  write(
    'corpus.jsonl',
    Object.entries(pages).map(([_id, page]) => JSON.stringify({ _id, ...page })),
  );
  write(
    'queries.jsonl',
    queries.map((text, number) => JSON.stringify({ _id: `q${number}`, text })),
  );
  write(
    'qrels.tsv',
    queries.map((_, number) => `q${number}\t${Object.keys(pages)[0]}\t1`),
  );
  const [collection] = prepareCollections(root, ['pages'], queries.length, false, tools);
  return (query: string) => {
    const { scores } = runQuery(collection, query, tools);
    return new Map([...scores].map(([id, score]) => [id.slice('pages/'.length), score]));
  };
}

async function assertSameScores(
  t: TestContext,
  pages: Pages,
  queries: readonly string[],
  { restart }: { restart: boolean },
) {
  const system = await WholeSystem.start(t);
  const ids = await system.read(pages);
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const expectedOf = benchOver(t, pages, queries);
  const assertAgain = async () => {
    let farthest = 0;
    for (const query of queries) {
      const { results, timing_ms } = await system.ask(
        'search.query',
        searchRequest.parse({ query, k: 20, min_relevance: 0 }),
      );
      const expected = expectedOf(query);
      assert.ok(timing_ms.rerank > 0);
      assert.ok(results.length === Math.min(20, expected.size), `${results.length} of ${expected.size}`);
      const found = results.map(({ page_id, score }) => ({ name: nameOf.get(page_id) ?? '', score }));
      for (const { name, score } of found) {
        farthest = Math.max(farthest, Math.abs(score - (expected.get(name) ?? Number.NaN)));
      }
      const [best] = [...expected.entries()];
      assert.equal(found[0].score, 1);
      assert.deepEqual(found[0].name, best[0], query);
    }
    assert.ok(farthest <= TOLERANCE, `scores differ by ${farthest}`);
  };
  await assertAgain();
  if (!restart) return;
  await system.stop();
  await system.start(); // from the files
  await assertAgain();
}

test('searches have the scores of the quality bench, also after a restart', (t) =>
  assertSameScores(
    t,
    library,
    ['birds that hunt fish', 'how to bake bread', 'king and knights', 'nests on a roof', 'qwxz water'],
    { restart: true },
  ));

test('so have those for a word that the word vectors do not know', (t) => {
  const pages: Pages = {
    one: { title: 'Herons', text: 'The zorblaxian heron of the river is a zorblaxian bird.' },
    two: { title: 'A zorblaxian pond', text: 'There are frogs and fish and trees and an old boat in it.' },
    three: { title: 'Storks', text: 'They nest on roofs, and no zorblaxian has seen one hunt in wet meadows.' },
    ...library,
  };
  return assertSameScores(t, pages, ['zorblaxian'], { restart: false });
});

test('so have those over papers with long queries', {
  skip: existsSync(cranfield) ? false : 'the judged collections are not there',
}, (t) => {
  const lines = (file: string) => readFileSync(join(cranfield, file), 'utf8').trim().split('\n');
  const pages: Pages = {};
  for (const line of lines('corpus.jsonl').slice(0, 40)) {
    const { _id, title, text } = JSON.parse(line);
    if (text.trim() !== '') pages[_id] = { title, text };
  }
  const queries = lines('queries.jsonl')
    .slice(0, 10)
    .map((line) => String(JSON.parse(line).text));
  return assertSameScores(t, pages, queries, { restart: false });
});
