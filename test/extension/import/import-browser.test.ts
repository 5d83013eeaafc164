import 'fake-indexeddb/auto';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BrowserSources,
  continueImport,
  pauseImport,
  startImport,
} from '../../../extension/src/import/import-browser.ts';
import { type Database, getMeta, openDatabase } from '../../../extension/src/queue/database.ts';
import { addRule, changeConnection, deleteItems, enqueue } from '../../../extension/src/queue/queue.ts';
import { settings } from '../../../extension/src/settings.ts';

const now = Date.parse('2026-03-01T10:00:00Z');
const rules = async () => ({ settings: settings.parse({}), blacklist: [], now });
let databases = 0;
const openOne = () => openDatabase(`import-${databases++}`);

/** A history of so many pages, several of which share a time, as the browsers give it: visited before a time, newest first. */
function historyOf(count: number): BrowserSources & { asked: number } {
  const all = Array.from({ length: count }, (_, n) => ({
    url: `https://example.org/${n}`,
    title: `Page ${n}`,
    visitedAt: now - Math.floor(n / 3) * 1000 - 1,
  }));
  return {
    asked: 0,
    async history(before, limit) {
      this.asked++;
      return all.filter(({ visitedAt }) => visitedAt <= before).slice(0, limit);
    },
    bookmarks: async () => [
      { url: 'https://example.org/0', title: 'In the history, too', visitedAt: now - 5 },
      { url: 'https://example.org/kept', title: 'Kept', visitedAt: now - 10 },
      { url: 'http://192.168.1.1/', title: 'Router', visitedAt: now - 10 },
      { url: 'javascript:void(0)', title: 'Bookmarklet', visitedAt: now - 10 },
    ],
  };
}

/** As if the service had taken all that waits. */
async function sendAll(database: Database, sources: BrowserSources): Promise<void> {
  await database.clear('items');
  assert.equal(await continueImport(database, sources, rules), false);
}

async function queued(database: Database): Promise<string[]> {
  return (await database.getAll('items')).map(({ url }) => url).sort();
}

test('history and bookmarks come once, without what the rules leave out and what was captured', async () => {
  const database = await openOne();
  const page = {
    url: 'https://example.org/7',
    canonical: 'https://example.org/7',
    title: '',
    visitedAt: now,
    html: null,
    metadata: {},
  };
  await enqueue(database, page, { now, maxMegabytes: 10 });
  const sources = historyOf(700);
  await startImport(database, ['history', 'bookmarks'], now);
  await continueImport(database, sources, rules);
  const first = await getMeta(database, 'import');
  assert.equal(first?.status, 'running', 'until all was sent');
  assert.equal(first?.queued, 700, '699 of the history, one of the bookmarks');
  assert.equal(first?.excluded, 2);
  const all = [...Array.from({ length: 700 }, (_, n) => `https://example.org/${n}`), 'https://example.org/kept'].sort();
  assert.deepEqual(await queued(database), all);
  await sendAll(database, sources);
  assert.equal((await getMeta(database, 'import'))?.status, 'done');
  await startImport(database, ['history', 'bookmarks'], now);
  await continueImport(database, sources, rules);
  assert.deepEqual(await queued(database), [], 'again: nothing more');
  assert.equal((await getMeta(database, 'import'))?.queued, 0);
});

test('it waits while a thousand wait, pauses, and goes on where it was', async () => {
  const database = await openOne();
  const sources = historyOf(3000);
  await startImport(database, ['history'], now);
  assert.equal(await continueImport(database, sources, rules), true, 'it goes on once they were sent');
  const waiting = (await queued(database)).length;
  assert.ok(waiting >= 1000 && waiting < 1400, `${waiting}`);
  const { asked } = sources;
  await continueImport(database, sources, rules);
  assert.equal(sources.asked, asked, 'nothing is read while enough wait');
  await pauseImport(database, true);
  await database.clear('items');
  await continueImport(database, sources, rules);
  assert.equal(sources.asked, asked, 'nothing is read while it is paused');
  await pauseImport(database, false);
  for (let rounds = 0; (await getMeta(database, 'import'))?.status !== 'done' && rounds < 10; rounds++) {
    await continueImport(database, sources, rules);
    await database.clear('items');
  }
  assert.equal((await getMeta(database, 'import'))?.queued, 3000);
});

test('many pages of one time do not stop it', async () => {
  const database = await openOne();
  const sources: BrowserSources = {
    history: async (before, limit) =>
      before >= now - 1
        ? Array.from({ length: limit }, (_, n) => ({ url: `https://example.org/${n}`, title: '', visitedAt: now }))
        : [],
    bookmarks: async () => [],
  };
  await startImport(database, ['history'], now);
  await continueImport(database, sources, rules);
  await sendAll(database, sources);
  assert.equal((await getMeta(database, 'import'))?.status, 'done');
});

test('while capturing is paused it stands still, and goes on after', async () => {
  const database = await openOne();
  const sources = historyOf(300);
  await startImport(database, ['history', 'bookmarks'], now);
  const before = await getMeta(database, 'import');
  for (const pausedUntil of ['forever', now + 1] as const) {
    const paused = async () => ({ ...(await rules()), settings: settings.parse({ pausedUntil }) });
    assert.equal(await continueImport(database, sources, paused), false);
    assert.deepEqual(await getMeta(database, 'import'), before);
  }
  const over = async () => ({ ...(await rules()), settings: settings.parse({ pausedUntil: now }) });
  assert.equal(await continueImport(database, sources, over), true, 'all was seen, and waits');
  assert.equal((await getMeta(database, 'import'))?.queued, 301);
});

test('where the browser gives its history no more, it is paused, and goes on where it was', async () => {
  const database = await openOne();
  const sources = historyOf(300);
  const takenBack = { ...sources, history: async () => Promise.reject(new TypeError('chrome.history is undefined')) };
  await startImport(database, ['history'], now);
  const before = await getMeta(database, 'import');
  assert.equal(await continueImport(database, takenBack, rules), false);
  assert.deepEqual(await getMeta(database, 'import'), { ...before, status: 'paused' });
  await pauseImport(database, false);
  assert.equal(await continueImport(database, sources, rules), true);
  assert.equal((await getMeta(database, 'import'))?.queued, 300);
});

test('an import ends with the library that it was for; a library that is connected anew gets all', async () => {
  const database = await openOne();
  const by = (library: string) => ({ address: 'http://localhost:8000', token: 't', name: 'n', library });
  await changeConnection(database, by('home'));
  const sources = historyOf(1500);
  await startImport(database, ['history'], now);
  await continueImport(database, sources, rules);
  await database.clear('items');
  await changeConnection(database, by('work'));
  assert.equal(await getMeta(database, 'import'), undefined);
  assert.equal(await continueImport(database, sources, rules), false);
  assert.deepEqual(await queued(database), []);
  const some = historyOf(5);
  for (const _ of ['first', 'begun anew']) {
    await startImport(database, ['history'], now);
    await continueImport(database, some, rules);
    assert.equal((await queued(database)).length, 5);
    await database.clear('items');
    await changeConnection(database, null);
    await changeConnection(database, by('work'));
  }
});

test('what is forgotten, and who is left, while the history is read is not queued', async () => {
  const database = await openOne();
  await changeConnection(database, { address: 'http://localhost:8000', token: 't', name: 'n', library: 'home' });
  const sources = historyOf(5);
  const meanwhile = (work: () => Promise<unknown>): BrowserSources => ({
    ...sources,
    history: async (before, limit) => {
      await work();
      return sources.history(before, limit);
    },
  });
  const live = async () => ({ ...(await rules()), blacklist: (await getMeta(database, 'blacklist'))?.rules ?? [] });
  await startImport(database, ['history'], now);
  const forgetting = async () => {
    await addRule(database, { kind: 'domain', pattern: 'example.org' });
    await deleteItems(database, () => true);
  };
  await continueImport(database, meanwhile(forgetting), live);
  assert.deepEqual(await queued(database), []);
  await startImport(database, ['history'], now + 1);
  await continueImport(
    database,
    meanwhile(() => changeConnection(database, null)),
    rules,
  );
  assert.deepEqual(await queued(database), []);
});
