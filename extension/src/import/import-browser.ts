/**
 * Queues the browser's history and bookmarks by address and time, without text, which the service fetches. Resumes from
 * its state in the database; an address comes once. Times are ms.
 */
import { pageAddress } from '../capture/page-address.ts';
import {
  type Database,
  getMeta,
  type ImportSource,
  type ImportState,
  rankOf,
  readMeta,
  type Transaction,
  transact,
} from '../queue/database.ts';
import { insertItem, maxItems } from '../queue/queue.ts';
import { canonicalAddress, exclusionOf, type RuleContext } from '../rules/decide.ts';
import { isPaused } from '../settings.ts';

/** Entries per transaction. */
const chunkSize = 200;
/** Maximum waiting imported items; captured pages go first. */
const maxWaiting = 1000;
const dayMs = 24 * 3600_000;

interface Entry {
  url: string;
  title: string;
  visitedAt: number;
}

/** What the browser offers, as permitted. */
export interface BrowserSources {
  /** Visited before `before`, newest first, at most `limit`. */
  history(before: number, limit: number): Promise<Entry[]>;
  bookmarks(): Promise<Entry[]>;
}

export const browserSources: BrowserSources = {
  history: async (before, limit) => {
    const items = await chrome.history.search({ text: '', startTime: 0, endTime: before, maxResults: limit });
    return items.flatMap(({ url, title, lastVisitTime }) =>
      url && lastVisitTime ? [{ url, title: title ?? '', visitedAt: Math.floor(lastVisitTime) }] : [],
    );
  },
  bookmarks: async () => {
    const entries: Entry[] = [];
    const walk = (nodes: readonly chrome.bookmarks.BookmarkTreeNode[]) => {
      for (const { url, title, dateAdded, children } of nodes) {
        if (url) entries.push({ url, title, visitedAt: Math.floor(dateAdded ?? Date.now()) });
        if (children) walk(children);
      }
    };
    walk(await chrome.bookmarks.getTree());
    return entries;
  },
};

export function startImport(database: Database, sources: ImportSource[], now: number): Promise<ImportState> {
  return transact(database, async (transaction) => {
    const state: ImportState = {
      sources,
      status: 'running',
      historyBefore: sources.includes('history') ? now : null,
      bookmarksFrom: sources.includes('bookmarks') ? 0 : null,
      seen: 0,
      queued: 0,
      excluded: 0,
      known: 0,
      startedAt: now,
    };
    await transaction.objectStore('meta').put(state, 'import');
    return state;
  });
}

export function pauseImport(database: Database, paused: boolean): Promise<ImportState | null> {
  return transact(database, async (transaction) => {
    const metas = transaction.objectStore('meta');
    const state = (await metas.get('import')) as ImportState | undefined;
    if (state === undefined) return null;
    if (state.status === 'done') return state;
    const changed: ImportState = { ...state, status: paused ? 'paused' : 'running' };
    await metas.put(changed, 'import');
    return changed;
  });
}

interface Step {
  entries: Entry[];
  /** Position of the next step. */
  next: Pick<ImportState, 'historyBefore' | 'bookmarksFrom'>;
}

const isRead = ({ historyBefore, bookmarksFrom }: ImportState): boolean =>
  historyBefore === null && bookmarksFrom === null;

async function nextStep({ historyBefore, bookmarksFrom }: ImportState, sources: BrowserSources): Promise<Step | null> {
  if (historyBefore !== null) {
    const entries = await sources.history(historyBefore, chunkSize);
    // If many visits share a time, or the browser returns later ones, move on in time.
    const times = entries.map(({ visitedAt }) => visitedAt).filter((time) => time < historyBefore);
    const before = entries.length === 0 ? null : times.length > 0 ? Math.min(...times) : historyBefore - dayMs;
    return { entries, next: { historyBefore: before, bookmarksFrom } };
  }
  if (bookmarksFrom !== null) {
    const all = await sources.bookmarks();
    const end = bookmarksFrom + chunkSize;
    return {
      entries: all.slice(bookmarksFrom, end),
      next: { historyBefore, bookmarksFrom: end < all.length ? end : null },
    };
  }
  return null;
}

async function queueEntry(
  transaction: Transaction,
  entry: Entry,
  rules: RuleContext,
): Promise<'queued' | 'excluded' | 'known'> {
  const canonical = canonicalAddress(entry.url)?.url;
  if (canonical === undefined || exclusionOf(entry.url, rules) !== null) return 'excluded';
  const imported = transaction.objectStore('imported');
  if ((await imported.get(canonical)) !== undefined) return 'known';
  if ((await transaction.objectStore('visits').get(canonical)) !== undefined) return 'known';
  await imported.put({ canonical, visitedAt: entry.visitedAt });
  const { title, visitedAt } = entry;
  const page = {
    url: pageAddress(entry.url),
    canonical,
    title: title.slice(0, 1000),
    visitedAt,
    html: null,
    metadata: { imported: true },
  };
  await insertItem(transaction, page, rankOf.import, rules.now);
  return 'queued';
}

/**
 * Queue entries until enough wait, the import or capturing is paused, or all were read. Pauses if the permission is
 * gone. Returns whether to continue after these are sent.
 */
export async function continueImport(
  database: Database,
  sources: BrowserSources,
  rulesAt: () => Promise<RuleContext>,
): Promise<boolean> {
  for (;;) {
    const state = await getMeta(database, 'import');
    if (state?.status !== 'running') return false;
    const rules = await rulesAt();
    if (isPaused(rules.settings, rules.now)) return false;
    const waiting = IDBKeyRange.bound(
      ['waiting', rankOf.import, 0],
      ['waiting', rankOf.import, Number.MAX_SAFE_INTEGER],
    );
    const left = await database.countFromIndex('items', 'order', waiting);
    // Done when all is sent: until then users can pause it.
    if (left >= (isRead(state) ? 1 : maxWaiting)) return true;
    if ((await database.count('items')) + chunkSize > maxItems) return false;
    let step: Step | null;
    try {
      step = await nextStep(state, sources);
    } catch (error) {
      console.warn('the import is paused: the browser gives no history or bookmarks', error);
      await pauseImport(database, true);
      return false;
    }
    await transact(database, async (transaction) => {
      const metas = transaction.objectStore('meta');
      const present = await readMeta(metas, 'import');
      if (present?.startedAt !== state.startedAt) return; // restarted meanwhile, or another library is connected
      // Pages may have been deleted since the rules were read.
      const blacklist = (await readMeta(metas, 'blacklist'))?.rules ?? [];
      const counts = { queued: 0, excluded: 0, known: 0 };
      for (const entry of step?.entries ?? []) counts[await queueEntry(transaction, entry, { ...rules, blacklist })]++;
      const next = step?.next ?? { historyBefore: null, bookmarksFrom: null };
      const changed: ImportState = {
        ...present,
        ...next,
        status: step === null ? 'done' : present.status,
        seen: present.seen + (step?.entries.length ?? 0),
        queued: present.queued + counts.queued,
        excluded: present.excluded + counts.excluded,
        known: present.known + counts.known,
      };
      await metas.put(changed, 'import');
    });
  }
}
