/**
 * The queue's rows and the only code that changes them, except for imports (import-browser.ts); each function is one
 * transaction. `send.ts` sends. Times are ms since the epoch.
 *
 * waiting  to be sent, oldest first. Deleted when accepted, counted as a revisit or blocked; refused when the service
 * rejects it alone (413, 422), or fails on it alone twice while it accepts another page
 * refused  not accepted, with the reason. The user retries or deletes it
 */

import type { BlacklistRule } from '../rules/decide.ts';
import type { Connection } from '../service/connection.ts';
import type { Database, ItemState, LogOutcome, QueuedItem, SendState, Transaction } from './database.ts';
import { noSendState, noTotals, rankOf, readMeta, transact } from './database.ts';

/** Readings within this time of the last one are one visit, ms. */
export const sessionMs = 30 * 60_000;
/** Items of all states: a year's reading, a few hundred bytes each. */
export const maxItems = 50_000;
/** Maximum rows of the log. */
const maxLogged = 500;
/** Max items of a batch. The service accepts 100; with fewer, less is repeated after a lost answer. */
const batchItems = 20;
const batchUnits = 6_000_000;
/** UTF-16 units per megabyte of the limit: browsers store two bytes a unit. */
const unitsAMegabyte = 500_000;

export interface ReadPage {
  url: string;
  canonical: string;
  title: string;
  visitedAt: number;
  /** Null for items by address. */
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

/** Drop texts of refused items, then of waiting ones, oldest first, until `units` more fit. */
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

/** Adds an item and its totals. */
export async function insertItem(
  transaction: Transaction,
  { html, ...page }: ReadPage,
  rank: number,
  now: number,
): Promise<void> {
  const size = html?.length ?? 0;
  const row = { ...page, state: 'waiting', rank, queuedAt: now, size, reason: null } satisfies Omit<QueuedItem, 'id'>;
  // The database generates the id.
  const id = await transaction.objectStore('items').add(row as QueuedItem);
  if (html !== null) await transaction.objectStore('bodies').put(html, id);
  await addTotals(transaction, { items: 1, units: size });
}

/** Queue a read page. Resolves when stored, or when the visit is already stored. */
export function enqueue(
  database: Database,
  page: ReadPage,
  { now, maxMegabytes }: { now: number; maxMegabytes: number },
): Promise<EnqueueOutcome> {
  return transact(database, async (transaction) => {
    const visits = transaction.objectStore('visits');
    const last = await visits.get(page.canonical);
    // The clock was set back after a reading that now lies in the future.
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

/** Drop visits of past sessions. */
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

/** The first items that fit a request; at least one. */
function withinUnits(items: QueuedItem[]): QueuedItem[] {
  let units = 0;
  const end = items.findIndex(({ size }, at) => {
    units += size;
    return at > 0 && units > batchUnits;
  });
  return end < 0 ? items : items.slice(0, end);
}

/** The oldest waiting items that `choose` accepts, at least one, with their texts. */
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

export type Fate = { to: 'gone'; outcome: LogOutcome } | { to: 'refused'; reason: string };

/** Apply the results of sent items, and reset the failures. */
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

/** Record a failed sending with its reason and the next try. */
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

/** Retry at once: by request, or for a new connection. */
export function clearFailures(database: Database): Promise<void> {
  return transact(database, async (transaction) => {
    await transaction.objectStore('meta').put(noSendState, 'send');
  });
}

/**
 * Set or clear the connection. With another library, data about the previous one is deleted: the log, refusals, visits,
 * and a running import. Waiting items stay with their visits, failures reset, and blocking rules stay until the new
 * service sends its own. A pasted token has no library id: each counts as its own library.
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

/** Identifies a token without storing it. */
async function digestOf(token: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Store a service's blocking rules, if it is still connected. Returns whether it is. */
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

/** Delete items that `matches`, and their visits, so that the pages can be queued again. The caller has the sending lock. Returns the count. */
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

/** A rule that applies before the service sends it. */
export function addRule(database: Database, rule: BlacklistRule): Promise<void> {
  return transact(database, async (transaction) => {
    const metas = transaction.objectStore('meta');
    const { rules = [], at = 0 } = (await readMeta(metas, 'blacklist')) ?? {};
    await metas.put({ rules: [...rules, rule], at }, 'blacklist');
  });
}

/** Delete log rows and recent visits of pages that `matches`. The caller has the sending lock, since answers add log rows. */
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
