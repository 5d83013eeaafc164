import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openHighWaterMark } from '../../../src/actors/indexes/indexes.ts';
import type { CommitHistory } from '../../../src/store/stored-rows.ts';
import { temporaryFolder } from '../../scope.ts';
import { keptLog } from '../quiet-log.ts';

const rebuilt = ['the store may be older than its index files: rebuilding them'];
/** An index folder with a file on every side; `open` gives the messages that it logged beside the mark. */
function indexFolder(t: TestContext) {
  const dir = temporaryFolder(t);
  const files = ['sparse/manifest.json', 'dense/1/manifest.json', 'pages/1/manifest.json'];
  for (const file of files) {
    mkdirSync(join(dir, file, '..'), { recursive: true });
    writeFileSync(join(dir, file), '{}');
  }
  return {
    path: join(dir, 'labels'),
    left: () => files.filter((file) => existsSync(join(dir, file))).length,
    names: () => readdirSync(dir).sort(),
    open: async (nextLabel: number, history: CommitHistory | null = null) => {
      const { log, lines } = keptLog();
      const mark = await openHighWaterMark({ dir, nextLabel, history, log });
      return { mark, said: lines.map(({ msg }) => msg) };
    },
  };
}

test('the mark only rises, also where several raise it at once', async (t) => {
  const folder = indexFolder(t);
  const { mark } = await folder.open(1);
  await mark.raise(0);
  assert.equal(existsSync(folder.path), false, 'there is nothing to note');
  await Promise.all([mark.raise(7), mark.raise(40), mark.raise(12)]);
  await mark.raise(39);
  assert.equal(readFileSync(folder.path, 'utf8'), '40');
  const { said } = await folder.open(40);
  assert.deepEqual([said, folder.left()], [[], 3]);
});

test('index files that go further than the store are deleted, and the mark with them', async (t) => {
  const folder = indexFolder(t);
  writeFileSync(folder.path, '40');
  const { mark, said } = await folder.open(39);
  assert.deepEqual(said, rebuilt);
  assert.deepEqual(folder.names(), []);
  await mark.raise(20);
  assert.equal(readFileSync(folder.path, 'utf8'), '20');
});

test('in a cluster the mark has the last commit, and files that may know one which the library has not are deleted', async (t) => {
  const folder = indexFolder(t);
  const historyOf = (commits: string[]): CommitHistory => ({
    last: () => commits.at(-1) ?? '',
    has: async (commit) => commits.includes(commit),
  });
  const first = await folder.open(1, historyOf(['1']));
  assert.deepEqual(first.said, rebuilt, 'of no known commit');
  const commits = ['1', '2'];
  const { mark } = await folder.open(1, historyOf(commits));
  for (const file of ['sparse', 'dense']) mkdirSync(join(folder.path, '..', file));
  await mark.raise(7);
  assert.equal(readFileSync(folder.path, 'utf8'), '7\n2');
  commits.push('3');
  await mark.raise(6);
  assert.equal(readFileSync(folder.path, 'utf8'), '7\n3', 'also without new labels');
  assert.deepEqual((await folder.open(7, historyOf(['1', '2', '3', '4']))).said, []);
  assert.deepEqual(folder.names(), ['dense', 'labels', 'sparse']);
  const { said } = await folder.open(7, historyOf(['1', '2', 'other 3']));
  assert.deepEqual(said, rebuilt);
  assert.deepEqual(folder.names(), []);
  assert.deepEqual((await folder.open(7, historyOf(['1']))).said, [], 'there is nothing to delete');
});

test('a mark that cannot be read stops no start and takes no file away, and the next one is noted', async (t) => {
  const folder = indexFolder(t);
  writeFileSync(folder.path, 'forty');
  assert.deepEqual((await folder.open(1)).said, []);
  await (await folder.open(1)).mark.raise(5);
  assert.equal(readFileSync(folder.path, 'utf8'), '5');

  const blocked = indexFolder(t);
  mkdirSync(join(blocked.path, 'inside'), { recursive: true });
  const { mark, said } = await blocked.open(1);
  assert.deepEqual(said, ['the label bound of the index files cannot be read: writing it again']);
  assert.equal(blocked.left(), 3);
  await mark.raise(5);
  assert.equal(readFileSync(blocked.path, 'utf8'), '5');
});
