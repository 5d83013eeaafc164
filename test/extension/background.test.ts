/** The background program in a browser of which there is little more than its events, alarms and locks, before a real server. */
import 'fake-indexeddb/auto';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { MessageName, Reply, Request } from '../../extension/src/messages.ts';
import type { Connection } from '../../extension/src/service/connection.ts';
import { until } from '../process/service.ts';

type Listener = (...told: unknown[]) => unknown;
class BrowserEvent {
  readonly listeners: Listener[] = [];
  addListener = (listener: Listener) => this.listeners.push(listener);
  tell = (...told: unknown[]) => this.listeners.map((listener) => listener(...told));
}

const onMessage = new BrowserEvent();
const onStartup = new BrowserEvent();
const onChanged = new BrowserEvent();
const alarms = new Map<string, { periodInMinutes?: number }>();
const kept: Record<string, unknown> = {};
const other = () => new BrowserEvent();
const chromeHere = {
  runtime: {
    id: 'readback',
    getURL: (path: string) => `chrome-extension://readback/${path}`,
    onMessage,
    onStartup,
    onInstalled: other(),
  },
  alarms: {
    create: async (name: string, alarm: { periodInMinutes?: number }) => void alarms.set(name, alarm),
    clear: async (name: string) => alarms.delete(name),
    onAlarm: other(),
  },
  storage: {
    local: {
      get: async (key: string) => ({ [key]: kept[key] }),
      set: async (changed: Record<string, unknown>) => {
        Object.assign(kept, changed);
        const changes = Object.entries(changed).map(([key, newValue]) => [key, { newValue }]);
        onChanged.tell(Object.fromEntries(changes));
      },
    },
    onChanged,
  },
  action: { setBadgeText: async () => undefined, setBadgeBackgroundColor: async () => undefined },
  commands: { onCommand: other() },
  contextMenus: { onClicked: other() },
  omnibox: { onInputChanged: other(), onInputEntered: other() },
  scripting: { getRegisteredContentScripts: async () => [] },
  // There is no `history`, as where people took it back.
};

/** Locks as a browser gives them: in the order in which they were asked for. */
const held = new Map<string, Promise<unknown>>();
const locks = {
  request: <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const result = (held.get(name) ?? Promise.resolve()).then(work, work);
    held.set(name, result);
    return result;
  },
};

/** A service: it takes everything, once the test lets it. */
class Service {
  readonly answers: (() => void)[] = [];
  readonly taken: string[] = [];
  /** Of the next batch, in place of taking it. */
  refusal: number | null = null;
  /** What it blocks; answered once the promise is kept. Null: it fails. */
  blocked: Promise<string[]> | null = Promise.resolve([]);
  listsAsked = 0;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async open(): Promise<Connection> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return { address, token: 'secret', name: 'test', library: null };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString();
    const reply = (status: number, answer: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    if (request.url === '/v1/forget') return void reply(200, { pages_purged: 1 });
    if (request.url === '/v1/blacklist') {
      this.listsAsked++;
      const patterns = await this.blocked;
      if (patterns === null) return void reply(500, {});
      return void reply(200, { entries: patterns.map((pattern) => ({ kind: 'domain', pattern })) });
    }
    if (request.url !== '/v1/pages/batch') return void reply(404, {});
    const { pages } = JSON.parse(body) as { pages: { url: string }[] };
    this.answers.push(() => {
      if (this.refusal !== null) return void reply(this.refusal, { detail: 'no' });
      this.taken.push(...pages.map(({ url }) => url));
      const results = pages.map(({ url }, index) => ({ outcome: 'accepted', index, page_id: url, status: 'queued' }));
      reply(200, { results });
    });
  }
}

const services: Service[] = [];
async function openService(): Promise<{ service: Service; connection: Connection }> {
  const service = new Service();
  services.push(service);
  return { service, connection: await service.open() };
}
const { service: first, connection: ofFirst } = await openService();
const { answers, taken } = first;

before(async () => {
  Object.assign(globalThis, { chrome: chromeHere });
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
  await import('../../extension/src/background.ts');
  await ask('connect', ofFirst);
});
after(() => {
  for (const service of services) service.close();
});

/** Ask as the popup does. */
function ask<Name extends MessageName>(name: Name, request: Request<Name>): Promise<Reply<Name>> {
  return new Promise((resolve, reject) => {
    onMessage.tell(
      { name, request },
      { id: 'readback', url: chromeHere.runtime.getURL('popup.html') },
      (told: unknown) => {
        const { reply, error } = told as { reply: Reply<Name>; error?: string };
        if (error === undefined) resolve(reply);
        else reject(new Error(error));
      },
    );
  });
}

/** A request of the program, which waits to be answered. */
async function nextRequest(from = answers): Promise<() => void> {
  await until(() => from.length > 0, 'the program sends something');
  return from.shift() as () => void;
}

const capture = (number: number) =>
  ask('captured', {
    url: `https://example.org/${number}`,
    title: `Page ${number}`,
    visitedAt: Date.now(),
    html: '<p>Herons',
    metadata: {},
    byHand: false,
  });

/** Until nothing is being sent. */
const isSent = () => locks.request('send', async () => undefined);

test('an item is taken out between two batches, and the alarm rings until the run has ended', async () => {
  await capture(0);
  const first = await nextRequest();
  for (let number = 1; number <= 41; number++) await capture(number);
  first();
  const second = await nextRequest();
  const { items } = await ask('queueOverview', null);
  const [last] = items.slice(-1);
  assert.equal(last.url, 'https://example.org/41');
  let deleted = 0;
  void ask('deleteItem', { id: last.id }).then((reply) => {
    deleted = reply.deleted;
  });
  assert.equal(alarms.get('send')?.periodInMinutes, 0.5);
  second();
  const third = await nextRequest();
  await until(() => deleted === 1, 'it is taken out while the run goes on');
  third();
  await isSent();
  assert.equal(taken.length, 41);
  assert.equal(taken.includes(last.url), false);
  assert.equal(alarms.has('send'), false);
});

test('what was read is sent though the history may not be read any more', async () => {
  await ask('startImport', { sources: ['history'] });
  await isSent();
  assert.equal((await ask('importState', null))?.status, 'paused');
  await capture(50);
  (await nextRequest())();
  await isSent();
  assert.equal(taken.at(-1), 'https://example.org/50');
});

test('an import that stood still while capturing was paused goes on when it is resumed', async () => {
  await ask('changeSettings', { pausedUntil: 'forever' });
  await ask('startImport', { sources: ['bookmarks'] });
  await isSent();
  assert.deepEqual([(await ask('importState', null))?.status, (await ask('importState', null))?.seen], ['running', 0]);
  Object.assign(chromeHere, {
    bookmarks: {
      getTree: async () => [{ title: 'All', children: [{ title: 'Larks', url: 'https://example.org/larks' }] }],
    },
  });
  await ask('changeSettings', { pausedUntil: null });
  (await nextRequest())();
  await isSent();
  assert.equal(taken.at(-1), 'https://example.org/larks');
  assert.equal((await ask('importState', null))?.status, 'done');
});

test('an import that was paused may be begun anew, with other sources', async () => {
  await ask('startImport', { sources: ['history', 'bookmarks'] });
  await isSent();
  assert.equal((await ask('importState', null))?.status, 'paused', 'there is no history');
  await ask('startImport', { sources: ['bookmarks'] });
  await isSent();
  const state = await ask('importState', null);
  assert.deepEqual([state?.status, state?.sources, state?.known], ['done', ['bookmarks'], 1]);
});

test('an import stands still while capturing is paused, though all of it waits, and knows no user names', async () => {
  const marks = Array.from({ length: 30 }, (_, n) => ({
    title: 'Mark',
    url: `https://who:secret@example.org/mark/${n}#part`,
  }));
  Object.assign(chromeHere, { bookmarks: { getTree: async () => [{ title: 'All', children: marks }] } });
  await ask('startImport', { sources: ['bookmarks'] });
  const request = await nextRequest();
  await ask('changeSettings', { pausedUntil: 'forever' });
  request();
  await isSent();
  assert.equal((await ask('importState', null))?.status, 'running', 'it can be paused while it is sent');
  assert.equal((await ask('queueOverview', null)).counts.waiting, 10);
  await ask('changeSettings', { pausedUntil: null });
  (await nextRequest())();
  await isSent();
  assert.equal((await ask('importState', null))?.status, 'done');
  assert.deepEqual(taken.slice(-30).sort(), marks.map((_, n) => `https://example.org/mark/${n}`).sort());
});

test('a time that is none is now, and holds up nothing', async () => {
  const page = { title: '', html: '<p>Herons', metadata: {}, byHand: false };
  for (const [number, visitedAt] of [9e15, Number.NaN, -1].entries())
    await ask('captured', { ...page, url: `https://example.org/time/${number}`, visitedAt });
  (await nextRequest())();
  await isSent();
  for (const number of [0, 1, 2]) assert.ok(taken.includes(`https://example.org/time/${number}`), String(number));
});

test('what was forgotten is blocked here before the service says so, and waits no more', async () => {
  first.blocked = null;
  await ask('changeSettings', { activeSeconds: 1 });
  assert.deepEqual(await ask('forget', { url: 'https://example.org/51?utm_source=x' }), { pages: 1 });
  assert.deepEqual(await capture(51), {
    outcome: 'excluded',
    rule: { rule: 'blacklist', pattern: 'https://example.org/51' },
  });
  first.blocked = Promise.resolve([]);
});

test('what is forgotten while it is on its way leaves no line', async () => {
  await capture(60);
  const answer = await nextRequest();
  const forgetting = ask('forget', { url: 'https://example.org/60' });
  const isBlocked = async () => (await ask('pageState', { url: 'https://example.org/60' })).exclusion !== null;
  await until(isBlocked, 'the rule holds');
  answer();
  await forgetting;
  await isSent();
  const { log } = await ask('queueOverview', null);
  assert.deepEqual(
    log.filter(({ url }) => url.endsWith('/60')),
    [],
  );
});

test('a list of rules that was asked for before something was forgotten does not lift its rule', async () => {
  let tell = (_: string[]) => {};
  const { listsAsked } = first;
  first.blocked = new Promise((resolve) => {
    tell = resolve;
  });
  const early = ask('syncRules', null);
  await until(() => first.listsAsked > listsAsked, 'the list is asked for');
  first.blocked = Promise.resolve(['birds.example']);
  await ask('forget', { domain: 'birds.example' });
  tell([]);
  assert.deepEqual(await early, { synced: true });
  assert.equal((await ask('pageState', { url: 'https://birds.example/' })).exclusion?.rule, 'blacklist');
  first.blocked = Promise.resolve([]);
});

test('where another service is connected, the one before gets no more, and nothing that it says is kept', async () => {
  const { service: second, connection } = await openService();
  const waiting = 25;
  for (let number = 100; number < 100 + waiting; number++) await capture(number);
  const late = await nextRequest();
  const before = taken.length;
  let tellLate = (_: string[]) => {};
  first.blocked = new Promise((resolve) => {
    tellLate = resolve;
  });
  second.blocked = Promise.resolve(['blocked.example']);
  const syncing = ask('syncRules', null);
  await ask('connect', connection);
  first.refusal = 401;
  late();
  tellLate(['other.example']);
  await syncing;
  for (let sent = 0; sent < waiting; sent = second.taken.length) {
    (await nextRequest(second.answers))();
    await until(() => second.taken.length > sent, 'it takes them');
  }
  await isSent();
  assert.deepEqual([second.taken.length, taken.length, answers.length], [waiting, before, 0]);
  const state = await ask('pageState', { url: 'https://example.org/50' });
  assert.deepEqual(
    [state.send.problem, state.sent],
    [null, null],
    'that the other one has it says nothing of this one',
  );
  const blocked = async (host: string) => (await ask('pageState', { url: `https://${host}/` })).exclusion?.rule;
  await until(async () => (await blocked('blocked.example')) === 'blacklist', 'its own rules are read');
  assert.equal(await blocked('other.example'), undefined);

  // What was imported into the other library is not in this one.
  await ask('startImport', { sources: ['bookmarks'] });
  for (let request = 0; request < 2; request++) (await nextRequest(second.answers))();
  await isSent();
  const imported = await ask('importState', null);
  assert.deepEqual([imported?.queued, imported?.known], [30, 0]);

  await capture(200);
  const last = await nextRequest(second.answers);
  for (let number = 201; number < 230; number++) await capture(number);
  await ask('connect', null);
  last();
  await isSent();
  assert.equal(second.answers.length, 0);
  assert.equal((await ask('queueOverview', null)).counts.waiting >= 29, true, 'what waits stays');
  await ask('connect', connection);
  await until(async () => {
    second.answers.shift()?.();
    return (await ask('queueOverview', null)).counts.waiting === 0;
  }, 'all is sent when it is connected again');
});

test('a browser that kept no alarms has them again when it starts', async () => {
  alarms.clear();
  onStartup.tell();
  await isSent();
  assert.equal(alarms.get('sync')?.periodInMinutes, 60);
});
