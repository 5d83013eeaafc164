import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BatchedPage, PageBatches } from '../../../src/actors/ingest/page-batches.ts';

interface NamedPage extends BatchedPage {
  name: string;
}

/** Batches over threads whose tasks the test ends by hand. */
function openBatches(threads = 1) {
  const tasks: { names: string; signal: AbortSignal; resolve: () => void; reject: (error: Error) => void }[] = [];
  const finished: string[] = [];
  const refused = new Set<string>();
  const batches = new PageBatches<NamedPage, null>({
    threads,
    prepare: (pages, texts, signal) =>
      new Promise((resolve, reject) => {
        assert.equal(texts.join(), pages.map((page) => page.readText()).join());
        signal.addEventListener('abort', () => reject(signal.reason));
        tasks.push({ names: namesOf(pages), signal, resolve: () => resolve(null), reject });
      }),
    finish: async (pages) => {
      finished.push(namesOf(pages));
      return pages.map(({ name }) => (refused.has(name) ? new Error(`${name} was refused`) : null));
    },
  });
  const index = (name: string, { text = name, signal = new AbortController().signal } = {}) =>
    batches.index({ name, signal, readText: () => text });
  return { index, tasks, finished, refused, names: () => tasks.map(({ names }) => names) };
}

function namesOf(pages: readonly NamedPage[]): string {
  return pages.map(({ name }) => name).join(' ');
}

const turn = () => new Promise(setImmediate);

/** How each ends: `indexed`, or with what message. */
const endsOf = async (indexing: Promise<unknown>[]) =>
  (await Promise.allSettled(indexing)).map((end) => (end.status === 'rejected' ? end.reason.message : 'indexed'));

test('pages go at once while no thread is busy, and together when one was', async () => {
  const { index, tasks, finished, names } = openBatches();
  const indexed = ['a', 'b', 'c'].map((name) => index(name));
  assert.deepEqual(names(), ['a']);
  tasks[0].resolve();
  await turn();
  assert.deepEqual(names(), ['a', 'b c']);
  tasks[1].resolve();
  await Promise.all(indexed);
  assert.deepEqual(finished, ['a', 'b c']);
});

test('a second thread begins where a full batch waits, or beside texts that take long', async (t) => {
  const { index, names } = openBatches(2);
  for (let no = 0; no < 8; no++) void index(`p${no}`);
  assert.deepEqual(names(), ['p0']);
  void index('p8');
  assert.deepEqual(names(), ['p0', 'p1 p2 p3 p4 p5 p6 p7 p8']);

  t.mock.timers.enable({ apis: ['setTimeout'] });
  const beside = openBatches(2);
  for (const name of ['hangs', 'next', 'last']) void beside.index(name);
  t.mock.timers.tick(1999);
  assert.deepEqual(beside.names(), ['hangs']);
  t.mock.timers.tick(1);
  assert.deepEqual(beside.names(), ['hangs', 'next last']);
  beside.tasks[1].resolve();
  await turn();
  void beside.index('later');
  void beside.index('behind it');
  assert.deepEqual(beside.names(), ['hangs', 'next last', 'later']);
  beside.tasks[0].resolve();
  await turn();
  assert.equal(beside.tasks.length, 3, 'one that hung and ended counts no more');
});

test('a batch is bounded in pages and in text, and a long page goes alone', async () => {
  const { index, tasks, names } = openBatches();
  const long = 'x'.repeat(131_000);
  for (const name of ['first', ...Array.from({ length: 17 }, (_, i) => `p${i}`)]) void index(name);
  assert.deepEqual(names(), ['first', 'p0 p1 p2 p3 p4 p5 p6 p7']);
  void index('long', { text: long });
  void index('longer', { text: `${long}${long}` });
  void index('last');
  for (let task = 0; task < tasks.length; task++) {
    tasks[task].resolve();
    await turn();
  }
  assert.equal(
    names()
      .map((each) => each.split(' ').length)
      .join(),
    '1,8,8,2,1,1',
  );
  assert.equal(tasks[3].names, 'p16 long');
});

test('a page that fails in the thread harms no other', async () => {
  const { index, tasks, finished, names } = openBatches();
  const ends = endsOf(['first', 'good', 'bad', 'fine'].map((name) => index(name)));
  for (let task = 0; task < tasks.length; task++) {
    if (tasks[task].names.includes('bad')) tasks[task].reject(new Error('the thread died'));
    else tasks[task].resolve();
    await turn();
  }
  assert.deepEqual(await ends, ['indexed', 'indexed', 'the thread died', 'indexed']);
  assert.deepEqual(names(), ['first', 'good bad fine', 'good', 'bad', 'fine']);
  assert.deepEqual(finished, ['first', 'good', 'fine']);
});

test('a page that is aborted in the thread stops its task, and the others of its batch go on', async () => {
  const { index, tasks } = openBatches();
  const stop = new AbortController();
  const ends = endsOf([index('first'), index('stopped', { signal: stop.signal }), index('other')]);
  tasks[0].resolve();
  await turn();
  assert.equal(tasks[1].names, 'stopped other');
  stop.abort(new Error('out of time'));
  await turn();
  assert.equal(tasks[2].names, 'other');
  tasks[2].resolve();
  assert.deepEqual(await ends, ['indexed', 'out of time', 'indexed']);
});

test('a page that is aborted while it waits, or whose text cannot be read, is told so and never reaches a thread', async () => {
  const { index, tasks } = openBatches();
  const stop = new AbortController();
  const ends = endsOf([index('first'), index('stopped', { signal: stop.signal })]);
  stop.abort(new Error('out of time'));
  tasks[0].resolve();
  assert.deepEqual(await ends, ['indexed', 'out of time']);
  await assert.rejects(index('late', { signal: stop.signal }), /out of time/);
  assert.equal(tasks.length, 1);
});

test('what the store refuses fails by itself', async () => {
  const { index, tasks, refused } = openBatches();
  refused.add('b');
  const ends = endsOf(['first', 'a', 'b'].map((name) => index(name)));
  tasks[0].resolve();
  await turn();
  tasks[1].resolve();
  assert.deepEqual(await ends, ['indexed', 'indexed', 'b was refused']);
});

/** Batches whose pages are embedded elsewhere after the thread's part, which takes no time here. */
function openEmbeddedBatches(mayBeOnePage: (error: unknown) => boolean) {
  const asked: { names: string; signal: AbortSignal; resolve: () => void; reject: (error: Error) => void }[] = [];
  const batches = new PageBatches<NamedPage, null>({
    threads: 1,
    prepare: async () => null,
    embed: (pages, _texts, _prepared, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        asked.push({ names: namesOf(pages), signal, resolve: () => resolve(null), reject });
      }),
    mayBeOnePage,
    finish: async (pages) => pages.map(() => null),
  });
  const index = (name: string, signal = new AbortController().signal) =>
    batches.index({ name, signal, readText: () => name });
  return { index, asked, names: () => asked.map(({ names }) => names) };
}

test('a batch that is embedded elsewhere leaves its thread to the next one meanwhile', async () => {
  const { index, asked, names } = openEmbeddedBatches(() => true);
  const indexed = ['a', 'b', 'c'].map((name) => index(name));
  await turn();
  assert.deepEqual(names(), ['a', 'b c']);
  for (const { resolve } of asked) resolve();
  await Promise.all(indexed);
  const later = index('d');
  await turn();
  assert.deepEqual(names(), ['a', 'b c', 'd'], 'no thread was counted twice');
  asked[2].resolve();
  await later;
});

test('an error that is no page’s own ends its whole batch; another one is looked for page by page', async () => {
  const { index, asked, names } = openEmbeddedBatches((error) => (error as Error).message !== 'down');
  const ends = endsOf(['a', 'b', 'c', 'd'].map((name) => index(name)));
  await turn();
  asked[0].reject(new Error('down'));
  asked[1].reject(new Error('down'));
  assert.deepEqual(await ends, ['down', 'down', 'down', 'down']);
  assert.deepEqual(names(), ['a', 'b c d']);

  const again = endsOf(['e', 'f', 'g'].map((name) => index(name)));
  await turn();
  asked[2].resolve();
  asked[3].reject(new Error('one text is too long'));
  for (let at = 4; at < 6; at++) {
    await turn();
    if (asked[at].names === 'f') asked[at].reject(new Error('too long'));
    else asked[at].resolve();
  }
  assert.deepEqual(await again, ['indexed', 'too long', 'indexed']);
  assert.deepEqual(names().slice(2), ['e', 'f g', 'f', 'g']);
});

test('a page that leaves while its batch is embedded does not take the others with it', async () => {
  const { index, asked, names } = openEmbeddedBatches(() => true);
  const leaving = new AbortController();
  const first = index('a');
  const ends = endsOf([index('b', leaving.signal), index('c')]);
  await turn();
  asked[0].resolve();
  await first;
  leaving.abort(new Error('the page was forgotten'));
  await turn();
  assert.deepEqual(names(), ['a', 'b c', 'c']);
  asked[2].resolve();
  assert.deepEqual(await ends, ['the page was forgotten', 'indexed']);
});
