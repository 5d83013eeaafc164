/**
 * When a host opens and closes the libraries of a cluster, by a clock that the test turns: what is waited for between the end of a lease and its
 * library being served again is counted, however fast the machine is.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Library, LibraryState } from '../../src/actors/system/library.ts';
import type { OwnerRow } from '../../src/cluster/database.ts';
import { clusterLibraries, maxBackoffMs, tendEveryMs } from '../../src/composition/join-cluster.ts';
import { indexWaitMs } from '../../src/composition/open-library.ts';
import { askEveryMs, connectMs } from '../../src/http/pass-on.ts';
import { keptLog } from '../actors/quiet-log.ts';

/** What a host may wait for after a lease's end, ms. */
const failoverMs = 2_000;

interface Lease {
  address: string | null;
  isOwn: boolean;
  /** By the clock, ms. */
  until: number;
}

/** A host whose database and libraries are the test's. */
function host({
  maxOpen = 100,
  maxMemoryMb = null as number | null,
  residentMb = null as (() => number) | null,
  sweep = async () => {},
} = {}) {
  let time = 0;
  const waits: { at: number; go: () => void }[] = [];
  const wait = (ms: number) => new Promise<void>((go) => waits.push({ at: time + ms, go }));
  /** Let the next wait end, and what follows from it happen. */
  const next = async () => {
    const [first] = waits.sort((one, other) => one.at - other.at);
    assert.ok(first !== undefined, 'nothing is waited for');
    waits.shift();
    time = Math.max(time, first.at);
    first.go();
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };
  const leases = new Map<string, Lease>();
  const isOver = ({ until }: Lease) => until <= time;
  const opened: { name: string; at: number; state: LibraryState; dueAt: number | null; end: () => void }[] = [];
  const lookups: string[] = [];
  const libraries = new Map<string, Library>();
  const served = new Set<string>();
  const { log, lines } = keptLog();
  const hosted = clusterLibraries({
    member: {
      served,
      async due(limit) {
        const others = [...leases].filter(([, { isOwn }]) => !isOwn);
        const ends = others.flatMap(([, lease]) => (isOver(lease) ? [] : [lease.until - time]));
        const names = others.flatMap(([name, lease]) => (isOver(lease) ? [name] : []));
        return { names: names.slice(0, limit), nextEndMs: ends.length === 0 ? null : Math.min(...ends) };
      },
      async ownerOf(name): Promise<OwnerRow | null> {
        lookups.push(name);
        const lease = leases.get(name);
        if (lease === undefined) return null;
        const { address, isOwn } = lease;
        return isOver(lease) ? { state: 'active', address: null, isOwn: false } : { state: 'active', address, isOwn };
      },
    },
    libraries,
    open(name) {
      const library = { name, at: time, state: 'serving' as LibraryState, dueAt: null as number | null, end: () => {} };
      opened.push(library);
      served.add(name);
      leases.set(name, { address: 'http://here', isOwn: true, until: Number.POSITIVE_INFINITY });
      const over = new Promise<unknown>((resolve) => {
        library.end = () => resolve(new Error('closed'));
      });
      const close = async () => {
        library.state = 'closing';
        await over;
      };
      return {
        state: () => library.state,
        dueAt: () => library.dueAt,
        over,
        close,
        opened: Promise.resolve(),
      } as Library;
    },
    sweep,
    isFollowed: async () => false,
    settings: { idle_close_minutes: 30, max_open_libraries: maxOpen, max_memory_mb: maxMemoryMb },
    residentBytes: () => (residentMb?.() ?? opened.length) * 1e6,
    log,
    monotonic: () => time,
    now: () => time,
    wait,
  });
  const elsewhere = (name: string, until: number) =>
    leases.set(name, { address: 'http://elsewhere', isOwn: false, until });
  return { ...hosted, elsewhere, opened, lookups, lines, next, time: () => time };
}

test('what a host is gone from is opened when its lease ends, though nobody asks', async () => {
  for (const until of [1, 900, 2_710, 9_999]) {
    const { elsewhere, opened, next } = host();
    elsewhere('anna', until);
    while (opened.length === 0) await next();
    assert.ok(opened[0].at - until <= Math.max(50, tendEveryMs - until), `opened at ${opened[0].at}, not ${until}`);
  }
});

test('leases that go on being renewed are looked at once a second, not more often', async () => {
  const { elsewhere, next, time, opened } = host();
  let looks = 0;
  while (time() < 60_000) {
    elsewhere('anna', time() + 8_000);
    await next();
    looks++;
  }
  assert.deepEqual([looks, opened.length], [60_000 / tendEveryMs, 0]);
});

test('waits between the end of a lease and an answer are two seconds at most', async () => {
  const { elsewhere, opened, placeOf, next, time } = host();
  elsewhere('anna', 3_000);
  assert.equal(await placeOf('anna'), 'http://elsewhere');
  while (time() < 3_000) await next();
  let place: string | null | undefined;
  void placeOf('anna').then((found) => {
    place = found;
  });
  while (place === undefined) await next();
  assert.equal(place, null);
  assert.ok(opened[0].at - 3_000 <= 50);
  // Where the library is opened meanwhile, a request that was passed on sees the end so late; who begins later waits for the opening, whose only
  // wait of its own is for the index, after one for a machine that refuses no connection.
  assert.ok(askEveryMs <= failoverMs && time() - 3_000 + connectMs <= failoverMs && 50 + indexWaitMs <= failoverMs);
  assert.ok(maxBackoffMs + indexWaitMs <= failoverMs, 'nor is there a longer one before an opening is tried again');
});

test('a library that does not close keeps no other from being opened', async () => {
  const { elsewhere, opened, next, time, lines } = host();
  elsewhere('anna', 10);
  while (opened.length === 0) await next();
  while (time() < 31 * 60_000) await next(); // idle, and its closing does not end
  assert.equal(opened[0].state, 'closing');
  elsewhere('ben', time() + 100);
  const until = time() + 100;
  while (opened.length === 1) await next();
  assert.ok(opened[1].at <= until + tendEveryMs);
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['the idle library was closed'],
  );
});

test('beyond its bounds of libraries and of memory a host closes the one that was not used for longest', async () => {
  for (const bound of [{ maxOpen: 2 }, { maxMemoryMb: 2 }]) {
    const { elsewhere, opened, placeOf, next, time } = host(bound);
    for (const name of ['anna', 'ben', 'carl']) {
      elsewhere(name, time());
      void placeOf(name);
      await new Promise(setImmediate); // it is opened for who asks
      await next();
    }
    const states = opened.map(({ state }) => state);
    assert.deepEqual(states, ['closing', 'serving', 'serving'], JSON.stringify(bound));
  }
});

test('where memory is full, one without work is closed for a library that is due, and one with work is not', async () => {
  let mb = 0;
  const { elsewhere, opened, placeOf, next, time } = host({ maxMemoryMb: 1, residentMb: () => mb });
  const states = () => opened.map(({ name, state }) => `${name} ${state}`);
  for (const name of ['anna', 'ben']) {
    elsewhere(name, time());
    void placeOf(name);
    await new Promise(setImmediate);
    opened[opened.length - 1].dueAt = time();
    await next();
  }
  mb = 2;
  elsewhere('carl', time());
  const until = time() + 5 * tendEveryMs;
  while (time() < until) await next();
  assert.deepEqual(states(), ['anna serving', 'ben serving']);
  opened[1].dueAt = null;
  while (opened[1].state === 'serving') await next();
  mb = 1;
  while (opened.length === 2) await next();
  assert.deepEqual(states(), ['anna serving', 'ben closing', 'carl serving']);
});

test('what a host is gone from is opened while copies are still being removed', async () => {
  const { elsewhere, opened, next } = host({ sweep: () => new Promise(() => {}) });
  await next(); // they are looked for behind the first look for libraries
  elsewhere('anna', 5_000);
  while (opened.length === 0) await next();
});

test('requests for a library that breaks here go to who has it by now', async () => {
  const { elsewhere, opened, placeOf, next } = host();
  elsewhere('anna', 10);
  while (opened.length === 0) await next();
  opened[0].state = 'breaking';
  elsewhere('anna', 60_000);
  assert.equal(await placeOf('anna'), 'http://elsewhere');
});

test('however many ask where a library is, PostgreSQL is asked once at a time', async () => {
  const { elsewhere, placeOf, lookups } = host();
  elsewhere('anna', 60_000);
  await Promise.all(Array.from({ length: 100 }, () => placeOf('anna')));
  assert.deepEqual(lookups, ['anna']);
});
