/**
 * The queue's rows and the only code that changes them, but for what an import adds (import-browser.ts); each function is one transaction (docs/extension.md, "States of a queued
 * item"). Who sends is `send.ts`. Times are ms since the epoch.
 */

import type { BlacklistRule } from '../rules/decide.ts';
import type { Connection } from '../service/connection.ts';
import type { Database, ItemState, LogOutcome, QueuedItem, SendState, Transaction } from './database.ts';
import { noSendState, noTotals, rankOf, readMeta, transact } from './database.ts';

/** Read again within this time of the last reading, an address has one visit, ms. */
export const sessionMs = 30 * 60_000;
/** Items of all states: what people read in a year, a few hundred bytes each. */
export const maxItems = 50_000;
/** Pages whose fate is remembered. */
const maxLogged = 500;
/** Of a batch: 100 are the most that the service takes; fewer are repeated after an answer that was lost. */
const batchItems = 20;
const batchUnits = 6_000_000;
/** UTF-16 units in a megabyte of the queue's bound: the browsers store text at two bytes a unit. */
const unitsAMegabyte = 500_000;

export interface ReadPage {
  url: string;
  canonical: string;
  title: string;
  visitedAt: number;
  /** Null for what is handed in by its address. */
  html: string | null;
  metadata: QueuedItem['metadata'];
}

export type EnqueueOutcome = 'queued' | 'same_visit' | 'no_room';

async function addTotals(
  transaction: Transaction,
  change: { items?: number; units?: number; dropped?: number },
): Promise<void> {
  const metas = transaction.objectStore('meta');
  const totals = (await readMeta(metas, 'totals')) ?? noTotals;
  await metas.put(
    {
      items: totals.items + (change.items ?? 0),
      units: totals.units + (change.units ?? 0),
      dropped: totals.dropped + (change.dropped ?? 0),
    },
    'totals',
  );
}

const inState = (state: ItemState, rank?: number): IDBKeyRange =>
  rank === undefined
    ? IDBKeyRange.bound([state, 0, 0], [state, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
    : IDBKeyRange.bound([state, rank, 0], [state, rank, Number.MAX_SAFE_INTEGER]);

/** Take the text of the refused items, then of the waiting ones, the oldest first, until `units` more fit. */
async function makeRoom(transaction: Transaction, units: number, maxUnits: number): Promise<void> {
  const totals = (await readMeta(transaction.objectStore('meta'), 'totals')) ?? noTotals;
  let excess = totals.units + units - maxUnits;
  if (excess <= 0) return;
  let freed = 0;
  for (const state of ['refused', 'waiting'] as const) {
    let cursor = await transaction.objectStore('items').index('order').openCursor(inState(state));
    while (cursor !== null && excess > 0) {
      const item = cursor.value;
      if (item.size > 0) {
        await transaction.objectStore('bodies').delete(item.id);
        await cursor.update({ ...item, size: 0, metadata: { ...item.metadata, text_dropped: true } });
        excess -= item.size;
        freed += item.size;
      }
      cursor = await cursor.continue();
    }
  }
  await addTotals(transaction, { units: -freed });
}

/** Put an item in; its totals are counted. */
export async function insertItem(
  transaction: Transaction,
  { html, ...page }: ReadPage,
  rank: number,
  now: number,
): Promise<void> {
  const size = html?.length ?? 0;
  const row = { ...page, state: 'waiting', rank, queuedAt: now, size, reason: null } satisfies Omit<QueuedItem, 'id'>;
  // The database gives the id.
  const id = await transaction.objectStore('items').add(row as QueuedItem);
  if (html !== null) await transaction.objectStore('bodies').put(html, id);
  await addTotals(transaction, { items: 1, units: size });
}

/** Queue a page that was read. Resolves when it is stored, or known to be the visit that is stored already. */
export function enqueue(
  database: Database,
  page: ReadPage,
  { now, maxMegabytes }: { now: number; maxMegabytes: number },
): Promise<EnqueueOutcome> {
  return transact(database, async (transaction) => {
    const visits = transaction.objectStore('visits');
    const last = await visits.get(page.canonical);
    // A reading that is yet to come was noted by a clock that was set back since.
    const isSame =
      last !== undefined && page.visitedAt - last.lastReadAt < sessionMs && last.lastReadAt - now < sessionMs;
    if (isSame) {
      await visits.put({ ...last, lastReadAt: Math.max(last.lastReadAt, page.visitedAt) });
      return 'same_visit';
    }
    const maxUnits = maxMegabytes * unitsAMegabyte;
    const totals = (await readMeta(transaction.objectStore('meta'), 'totals')) ?? noTotals;
    if (totals.items >= maxItems) {
      await addTotals(transaction, { dropped: 1 });
      return 'no_room';
    }
    const html = page.html !== null && page.html.length <= maxUnits ? page.html : null;
    await makeRoom(transaction, html?.length ?? 0, maxUnits);
    await insertItem(transaction, { ...page, html }, rankOf.read, now);
    await visits.put({ canonical: page.canonical, visitedAt: page.visitedAt, lastReadAt: page.visitedAt });
    await forgetOldVisits(transaction, now);
    return 'queued';
  });
}

/** Drop the visits of sessions that are over. */
export const dropOldVisits = (database: Database, now: number): Promise<void> =>
  transact(database, (transaction) => forgetOldVisits(transaction, now));

async function forgetOldVisits(transaction: Transaction, now: number): Promise<void> {
  const old = IDBKeyRange.upperBound(now - 2 * sessionMs);
  let cursor = await transaction.objectStore('visits').index('lastReadAt').openCursor(old);
  while (cursor !== null) {
    await cursor.delete();
    cursor = await cursor.continue();
  }
}

export interface BatchItem {
  item: QueuedItem;
  html: string | null;
}

/** The first items whose texts make no more than a request is to hold; one at least. */
function withinUnits(items: QueuedItem[]): QueuedItem[] {
  let units = 0;
  const end = items.findIndex(({ size }, at) => {
    units += size;
    return at > 0 && units > batchUnits;
  });
  return end < 0 ? items : items.slice(0, end);
}

/** Those that `choose` takes of the oldest waiting items, one at least, with their texts. */
export async function nextBatch(
  database: Database,
  { imports }: { imports: boolean },
  choose: (items: QueuedItem[]) => QueuedItem[] = withinUnits,
): Promise<BatchItem[]> {
  const transaction = database.transaction(['items', 'bodies']);
  const batch: BatchItem[] = [];
  const range = imports ? inState('waiting') : inState('waiting', rankOf.read);
  const oldest = await transaction.objectStore('items').index('order').getAll(range, batchItems);
  for (const item of oldest.length === 0 ? [] : choose(oldest))
    batch.push({ item, html: (await transaction.objectStore('bodies').get(item.id)) ?? null });
  return batch;
}

/** Where an item goes. */
export type Fate = { to: 'gone'; outcome: LogOutcome } | { to: 'refused'; reason: string };

/** Settle what became of items that waited, and clear the failures: the service has answered. */
export function settle(database: Database, fates: readonly { id: number; fate: Fate }[], now: number): Promise<void> {
  return transact(database, async (transaction) => {
    for (const { id, fate } of fates) await settleItem(transaction, id, fate, now);
    await trimLog(transaction);
    await transaction.objectStore('meta').put(noSendState, 'send');
  });
}

async function settleItem(transaction: Transaction, id: number, fate: Fate, now: number): Promise<void> {
  const items = transaction.objectStore('items');
  const item = await items.get(id);
  if (item === undefined || item.state !== 'waiting') return;
  if (fate.to === 'gone') {
    await removeItem(transaction, item);
    const { url, title, visitedAt } = item;
    const entry = { url, title, visitedAt, sentAt: now, outcome: fate.outcome };
    await transaction.objectStore('log').add(entry as typeof entry & { id: number });
  } else {
    await items.put({ ...item, state: 'refused', reason: fate.reason });
  }
}

async function removeItem(transaction: Transaction, { id, size }: QueuedItem): Promise<void> {
  await transaction.objectStore('items').delete(id);
  await transaction.objectStore('bodies').delete(id);
  await addTotals(transaction, { items: -1, units: -size });
}

async function trimLog(transaction: Transaction): Promise<void> {
  const log = transaction.objectStore('log');
  const excess = (await log.count()) - maxLogged;
  let cursor = excess > 0 ? await log.openCursor() : null;
  for (let left = excess; left > 0 && cursor !== null; left--) {
    await cursor.delete();
    cursor = await cursor.continue();
  }
}

/** Sending failed: say why, and when to try again. */
export function noteFailure(
  database: Database,
  problem: NonNullable<SendState['problem']>,
  waitMs: (failures: number) => number,
  now: number,
): Promise<SendState> {
  return transact(database, async (transaction) => {
    const metas = transaction.objectStore('meta');
    const failures = ((await readMeta(metas, 'send')) ?? noSendState).failures + 1;
    const state: SendState = { failures, notedAt: now, notBefore: now + waitMs(failures), problem };
    await metas.put(state, 'send');
    return state;
  });
}

/** Try again at once: somebody asked for it, or another service was paired. */
export function clearFailures(database: Database): Promise<void> {
  return transact(database, async (transaction) => {
    await transaction.objectStore('meta').put(noSendState, 'send');
  });
}

/**
 * Another connection, or none. What is remembered of the library goes, unless it is the same one: what it was sent, what it refused, what was read and imported, and an
 * import that goes on. What waits stays, with its visits; failures count no more, and what is blocked stays so until the new one tells what it
 * blocks. A pasted token does not tell its library: each counts as a library of its own.
 */
export async function changeConnection(database: Database, made: Connection | null): Promise<void> {
  const library = made && `${made.address} ${made.library ?? (await digestOf(made.token))}`;
  return transact(database, async (transaction) => {
    const metas = transaction.objectStore('meta');
    await metas.put(made, 'connection');
    const before = await readMeta(metas, 'library');
    if (before !== undefined && before !== library) await forgetLibrary(transaction);
    if (library === null) return void (await metas.delete('library'));
    await metas.put(library, 'library');
    await metas.put(noSendState, 'send');
  });
}

async function forgetLibrary(transaction: Transaction): Promise<void> {
  for (const store of ['log', 'visits', 'imported'] as const) await transaction.objectStore(store).clear();
  await transaction.objectStore('meta').delete('import');
  const items = transaction.objectStore('items');
  for (const item of await items.getAll()) {
    const { canonical, visitedAt, rank } = item;
    if (item.state === 'refused') await items.put({ ...item, state: 'waiting', reason: null });
    if (rank === rankOf.read)
      await transaction.objectStore('visits').put({ canonical, visitedAt, lastReadAt: visitedAt });
  }
}

/** Tells tokens apart, and is kept when one is not. */
async function digestOf(token: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Keep what a service blocks, if it is the one that is connected. Gives whether it is. */
export function keepRules(database: Database, asked: Connection, rules: BlacklistRule[], at: number): Promise<boolean> {
  return transact(database, async (transaction) => {
    const metas = transaction.objectStore('meta');
    const present = await readMeta(metas, 'connection');
    if (present?.address !== asked.address || present.token !== asked.token) return false;
    await metas.put({ rules, at }, 'blacklist');
    return true;
  });
}

/** A refused item waits again. */
export function retryItem(database: Database, id: number): Promise<void> {
  return transact(database, async (transaction) => {
    const item = await transaction.objectStore('items').get(id);
    if (item?.state === 'refused')
      await transaction.objectStore('items').put({ ...item, state: 'waiting', reason: null });
  });
}

/**
 * Delete items that `matches`, and their visits: read again, the page is queued again. The caller holds the lock of sending, so that
 * none is on its way. Gives how many.
 */
export function deleteItems(database: Database, matches: (item: QueuedItem) => boolean): Promise<number> {
  return transact(database, async (transaction) => {
    const visits = transaction.objectStore('visits');
    let deleted = 0;
    for (const item of await transaction.objectStore('items').getAll()) {
      if (!matches(item)) continue;
      await removeItem(transaction, item);
      if ((await visits.get(item.canonical))?.visitedAt === item.visitedAt) await visits.delete(item.canonical);
      deleted++;
    }
    return deleted;
  });
}

/** A rule that holds before the service tells of it. */
export function addRule(database: Database, rule: BlacklistRule): Promise<void> {
  return transact(database, async (transaction) => {
    const metas = transaction.objectStore('meta');
    const { rules = [], at = 0 } = (await readMeta(metas, 'blacklist')) ?? {};
    await metas.put({ rules: [...rules, rule], at }, 'blacklist');
  });
}

/**
 * Forget what is remembered here of pages that `matches`: the log, recent visits. The caller holds the lock of sending: what is on its way is
 * written into the log when it is answered.
 */
export function deleteTraces(database: Database, matches: (url: string) => boolean): Promise<void> {
  return transact(database, async (transaction) => {
    const log = transaction.objectStore('log');
    for (const { id, url } of await log.getAll()) if (matches(url)) await log.delete(id);
    for (const store of ['visits', 'imported'] as const) {
      const rows = transaction.objectStore(store);
      for (const canonical of await rows.getAllKeys()) if (matches(canonical)) await rows.delete(canonical);
    }
  });
}
