import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type IndexesDependencies, indexesService } from '../../../src/actors/indexes/indexes.ts';
import { CommitFeed } from '../../../src/actors/system/service.ts';
import { commitContent } from '../../../src/commands/commit-content.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { openIndexThreads } from '../../../src/engine/index-threads.ts';
import { programFile } from '../../../src/files/program-files.ts';
import { noChanges } from '../../../src/store/commit.ts';
import { openThreadPool, type ThreadPool } from '../../../src/threads/thread-pool.ts';
import { submission } from '../../commands/submissions.ts';
import { deferred } from '../../deferred.ts';
import { chunkRow, pageRow } from '../../machines/rows.ts';
import { until } from '../../process/service.ts';
import type { Hosted } from '../hosted.ts';
import { keptLog, type LogLine } from '../quiet-log.ts';
import { Shelf } from '../shelf.ts';

let work: ThreadPool<typeof import('../../../src/threads/work-thread.ts')>;
let texts: ThreadPool<typeof import('../../../src/threads/text-thread.ts')>;
let threads: ReturnType<typeof openIndexThreads>;
let opened = 0;
before(() => {
  const chunking = { target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 };
  const pool = { threads: 1, maxQueue: 1000 };
  work = openThreadPool({ ...pool, entry: programFile('threads/work-thread'), name: 'work' });
  texts = openThreadPool({ ...pool, entry: programFile('threads/text-thread'), name: 'texts', data: { chunking } });
  threads = openIndexThreads({ searchers: 1, searchData: { wordList: null }, graphFrom: null });
});
after(() => Promise.all([work.close(), texts.close(), threads.close()]));

const indexDir = (shelf: Shelf) => join(shelf.temporary.path, 'index');

/** The indexes over a shelf's store, ready. */
async function readyIndexes(
  shelf: Shelf,
  feed = new CommitFeed(),
  changes: Partial<IndexesDependencies> = {},
): Promise<{ hosted: Hosted; lines: LogLine[] }> {
  const { log, lines } = keptLog();
  const logic = indexesService({
    dir: indexDir(shelf),
    storeId: 'store 1',
    reader: shelf.reader,
    feed,
    texts,
    work,
    askQueryVector: async () => ({ vector: Float32Array.of(1, 0), degraded: false }),
    threads: threads.of(String(++opened)),
    log,
    monotonic: () => 0,
    history: null,
    ...changes,
  });
  const hosted = shelf.host(logic);
  await hosted.told('ready');
  return { hosted, lines: lines.filter(({ level }) => level > 30) };
}

/** A shelf whose indexes have been opened once, empty. */
async function indexedShelf(): Promise<Shelf> {
  const shelf = await Shelf.open();
  await (await readyIndexes(shelf)).hosted.stop();
  return shelf;
}
const filters = { domain: null, after: null, before: null, pages: null };

function retrieve(hosted: Hosted, query: string, model: string) {
  return hosted.ask('index.retrieve', {
    query,
    candidates: 10_000,
    filters,
    model,
    relevance: false,
    sketches: false,
    phrases: [],
    clauses: { must: [], mustNot: [] },
    prefix: false,
    byWords: false,
    spelling: true,
  });
}

async function find(hosted: Hosted, query: string) {
  const { sparse, timing_ms } = await retrieve(hosted, query, 'm1');
  return { found: sparse.labels.length, rebuilding: timing_ms.rebuilding };
}

/** Pages of so many chunks in all, each with `word` in it, indexed as far as the store knows. */
async function shelve(shelf: Shelf, word: string, chunks: number): Promise<void> {
  const each = 500;
  for (let page = 0; page < chunks / each; page++) {
    const text = Array.from({ length: each }, () => word).join(' ');
    await shelf.add({ text, vectors: { 1: Array.from({ length: each }, () => [1, 2]) } });
  }
}

test('what readers of the store see is in the catalog before the disk has it', async () => {
  await using shelf = await Shelf.open();
  const feed = new CommitFeed();
  const { hosted } = await readyIndexes(shelf, feed);
  const page = pageRow({ no: 7, domain: 'slow.example' });
  feed.publish('visible', { ...noChanges(), opstamp: 1, pages: [page] });
  assert.deepEqual(await hosted.ask('index.pagesUnder', { domain: 'slow.example' }), [7]);
  feed.publish('visible', { ...noChanges(), opstamp: 2, removedPages: [7] });
  assert.deepEqual(await hosted.ask('index.pagesUnder', { domain: 'slow.example' }), []);
  await hosted.stop();
});

test('a model that is opened takes in no labels that the disk lacks, which a crash takes back; their job brings them', async () => {
  await using shelf = await Shelf.open();
  const model = await shelf.install('m2');
  const { space } = model;
  await shelf.temporary.commit(({ models }) => models.put({ ...model, provider: 'outside' }));
  const known = await shelf.add({ text: 'oak', vectors: { [space]: [[1, 2]] } });
  const feed = new CommitFeed();
  const { hosted } = await readyIndexes(shelf, feed);
  const first = await shelf.add({ text: 'elm', vectors: { [space]: [[1, 2]] } });
  const page = shelf.reader.pages.get(2);
  assert.ok(page !== undefined);
  const changes = { ...noChanges(), opstamp: 1, pages: [page] };
  const held = async () => {
    const near = await hosted.ask('index.nearPages', { model: 'm2', page_nos: [1], k: 5, except: [], filters });
    const { dense } = await retrieve(hosted, 'oak', 'm2');
    return { near: near.map(({ page_no }) => page_no), chunks: [...dense.labels].sort() };
  };
  feed.publish('visible', changes);
  assert.deepEqual(await held(), { near: [], chunks: [known] });
  feed.publish('durable', changes);
  const chunks = [chunkRow(0, 3)];
  const segment = await texts.run('segmentOfChunks', { title: null, text: 'elm', chunks });
  const vectors = new Map([[space, Float32Array.of(1, 2)]]);
  await hosted.ask('index.add', { segment, vectors, pages: [{ first, count: 1 }], obsolete: [] });
  assert.deepEqual(await held(), { near: [2], chunks: [known, first] });
  await hosted.stop();
});

test('a search without a vector for its query finds by words and says so, and fails where making it fails', async () => {
  await using shelf = await indexedShelf();
  await shelf.add({ text: 'oak', vectors: { 1: [[1, 2]] } });
  const answers: (() => Promise<{ vector: Float32Array | null; degraded: boolean }>)[] = [
    async () => ({ vector: Float32Array.of(1, 2), degraded: false }),
    async () => ({ vector: null, degraded: true }),
    () => Promise.reject(new Error('gone')),
    async () => ({ vector: Float32Array.of(1, 2, 3), degraded: false }),
  ];
  const askQueryVector = () => answers[0]();
  const { hosted } = await readyIndexes(shelf, new CommitFeed(), { askQueryVector });
  const found = async () => {
    const { sparse, dense, timing_ms } = await retrieve(hosted, 'oak', 'm1');
    return [sparse.labels.length, dense.labels.length, timing_ms.degraded_dense];
  };
  assert.deepEqual(await found(), [1, 1, undefined]);
  answers.shift();
  assert.deepEqual(await found(), [1, 0, 1]);
  answers.shift();
  await assert.rejects(found(), /gone/);
  answers.shift();
  await assert.rejects(found(), /cannot be indexed/);
  await hosted.stop();
});

test('a start waits for everything that was indexed and not saved, however much', async () => {
  await using shelf = await indexedShelf();
  await shelve(shelf, 'oak', 2500);
  const { hosted, lines } = await readyIndexes(shelf);
  assert.deepEqual(await find(hosted, 'oak'), { found: 2500, rebuilding: undefined });
  assert.deepEqual(lines, []);
  await hosted.stop();
});

/** No text is brought back until it is let go. */
function heldRecovery() {
  const { promise, resolve: letGo } = deferred();
  const aroundRecovery = (recoverPage: (pageNo: number) => Promise<void>) => (pageNo: number) =>
    promise.then(() => recoverPage(pageNo));
  return { letGo, aroundRecovery };
}

test('a start that may wait for so long only goes on without the rest, which comes back beside it', async () => {
  await using shelf = await indexedShelf();
  await shelve(shelf, 'oak', 1000);
  const { letGo, aroundRecovery } = heldRecovery();
  const { hosted } = await readyIndexes(shelf, new CommitFeed(), { recoveryWaitMs: 1, aroundRecovery });
  assert.deepEqual(await find(hosted, 'oak'), { found: 0, rebuilding: 1 });
  letGo();
  await until(async () => (await hosted.ask('index.state', {})).state === 'whole', 'all is back');
  assert.deepEqual(await find(hosted, 'oak'), { found: 1000, rebuilding: undefined });
  await hosted.stop();
});

test('lost files are rebuilt beside the service, and searches say so meanwhile', async () => {
  await using shelf = await indexedShelf();
  await shelve(shelf, 'oak', 1000);
  await (await readyIndexes(shelf)).hosted.stop();
  await rm(join(indexDir(shelf), 'sparse', 'manifest.json'));
  const { letGo, aroundRecovery } = heldRecovery();
  const { hosted, lines } = await readyIndexes(shelf, new CommitFeed(), { aroundRecovery });
  assert.equal((await find(hosted, 'oak')).rebuilding, 1);
  assert.ok(lines.some(({ msg }) => /rebuilding them in the background/.test(msg)));
  assert.ok(existsSync(join(indexDir(shelf), 'rebuilding')));
  letGo();
  await until(async () => (await hosted.ask('index.state', {})).state === 'whole', 'all is back');
  assert.deepEqual(await find(hosted, 'oak'), { found: 1000, rebuilding: undefined });
  await hosted.stop();
  assert.ok(!existsSync(join(indexDir(shelf), 'rebuilding')));
  const again = await readyIndexes(shelf);
  assert.deepEqual([await find(again.hosted, 'oak'), again.lines], [{ found: 1000, rebuilding: undefined }, []]);
  await again.hosted.stop();
});

test('a rebuild that was cut off goes on beside the next service', async () => {
  await using shelf = await indexedShelf();
  await shelve(shelf, 'oak', 5000);
  await rm(join(indexDir(shelf), 'sparse', 'manifest.json'));
  await (await readyIndexes(shelf)).hosted.stop();
  assert.ok(existsSync(join(indexDir(shelf), 'rebuilding')));
  const { hosted } = await readyIndexes(shelf);
  await until(async () => (await hosted.ask('index.state', {})).state === 'whole', 'all is back');
  assert.equal((await find(hosted, 'oak')).found, 5000);
  await hosted.stop();
});

test('what an unfinished attempt committed is left to its job', async () => {
  await using shelf = await indexedShelf();
  await shelf.add({ text: 'oak', vectors: { 1: [[1, 2]] } });
  const url = 'https://example.com/unfinished';
  const page = submission({ canonical_url: url, title: null, body: 'oak', seen_at: 0, at: 0 });
  await shelf.temporary.commit(ingestPage(page));
  const [{ attempt }] = await shelf.temporary.claim(0, { leaseMs: 1 });
  const vectors = new Map([[1, Float32Array.of(1, 2)]]);
  const content = await shelf.temporary.commit(
    commitContent(attempt, { page_no: 2, chunks: [chunkRow(0, 3)], vectors }),
  );
  assert.equal(content?.labels.count, 1);
  const { hosted } = await readyIndexes(shelf);
  assert.equal((await find(hosted, 'oak')).found, 1);
  await hosted.stop();
});
