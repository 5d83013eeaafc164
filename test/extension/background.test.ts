/** The background program in a browser of which there is little more than its events, alarms and locks, before a real server. */
import 'fake-indexeddb/auto';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { MessageName, Reply, Request } from '../../extension/src/messages.ts';
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

/** The service: it takes everything, once the test lets it. */
const answers: (() => void)[] = [];
const taken: string[] = [];
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!request.url?.endsWith('/v1/pages/batch')) return void response.writeHead(404).end('{}');
  const body = Buffer.concat(await request.toArray()).toString();
  const { pages } = JSON.parse(body) as { pages: { url: string }[] };
  answers.push(() => {
    taken.push(...pages.map(({ url }) => url));
    const results = pages.map(({ url }, index) => ({ outcome: 'accepted', index, page_id: url, status: 'queued' }));
    response.end(JSON.stringify({ results }));
  });
}
const server = createServer((request, response) => void answer(request, response));

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(globalThis, { chrome: chromeHere });
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
  await import('../../extension/src/background.ts');
  await ask('connect', { address, token: 'secret', name: 'test', library: null });
});
after(() => {
  server.closeAllConnections();
  server.close();
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
async function nextRequest(): Promise<() => void> {
  await until(() => answers.length > 0, 'the program sends something');
  return answers.shift() as () => void;
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

test('a browser that kept no alarms has them again when it starts', async () => {
  alarms.clear();
  onStartup.tell();
  await isSent();
  assert.equal(alarms.get('sync')?.periodInMinutes, 60);
});
