/** Steps 2 and 3 of docs/forgetting.md, idempotent: erases a rule's pages, labels and failed imports; queues purges. */
import * as forget from '../../commands/forget.ts';
import { canonicalizeUrl, hostOf, withoutQuery } from '../../compute/web/canonical-url.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import { mayMove, movedDomains } from '../../compute/web/known-addresses.ts';
import type { BlacklistRule } from '../../store/blacklist.ts';
import type { FailureKey } from '../../store/imports.ts';
import type { Command } from '../../store/store.ts';
import { forgetFailures } from '../ingest/import-target.ts';
import { inParts } from '../system/background.ts';
import { type LibraryParts, maxBatch } from '../system/service.ts';

interface RuleEraserDependencies
  extends Pick<LibraryParts, 'ask' | 'reader' | 'commit' | 'canonicalize' | 'maxAttempts' | 'now' | 'monotonic'> {
  /** Called when something without a tombstone was erased. */
  onUntracked: () => void;
}

/** Max pages per slice, and max duration, ms. The size of pages varies by a factor of a hundred. */
const slicePages = 100;
const sliceMs = 4;
/** Labels per removal: some ms. */
const removedLabels = 2000;
/** Per turn: 1 ms. */
const sliceFailures = 50;

export type RuleEraser = ReturnType<typeof ruleEraser>;

export function ruleEraser(dependencies: RuleEraserDependencies) {
  const { ask, reader, commit, canonicalize, maxAttempts, now, monotonic, onUntracked } = dependencies;

  /**
   * Erase all matches and queue the purges. `onSlice` gets the number of remaining pages; its error ends the purge.
   * Returns the numbers of erased pages and queued jobs. Errors: those of the writer and the index.
   */
  const erase = async (rule: BlacklistRule, onSlice = (_left: number): void => {}) => {
    const pages = await erasePagesOf(await pagesOf(rule), onSlice);
    await eraseFailures();
    const jobs = await queuePurges();
    await commit(forget.endForget(rule.no, { at: now(), max_attempts: maxAttempts }));
    return { pages, jobs };
  };

  /** Erase the pages of a domain without blocking it; returns how many. Errors: those of the writer and the index. */
  const eraseDomain = async (domain: string): Promise<number> => {
    const pages = await erasePagesOf(await ask('index.pagesUnder', { domain }), () => {});
    await queuePurges();
    await commit(forget.renameTopics({ at: now(), max_attempts: maxAttempts }));
    return pages;
  };

  /** Assumes the current settings, and no known addresses, for rules of earlier versions. Errors: the writer's. */
  const noteEarlierSettings = async (): Promise<void> => {
    const { known_addresses: _, ...earlier } = canonicalize;
    if (reader.blacklist.withoutSettings().length > 0) await commit(forget.noteSettings(earlier));
  };

  /** Queue jobs for erased pages without one. Returns the number of missing and dead jobs. */
  const adoptOrphans = async (): Promise<number> => {
    let pages = 0;
    for (;;) {
      const adopted = await commit(forget.orphanPurges(), maxBatch);
      if (adopted === 0) break;
      pages += adopted;
    }
    await queuePurges();
    return pages;
  };

  const pagesOf = async ({ kind, pattern }: BlacklistRule): Promise<number[]> => {
    if (kind === 'domain') {
      const under = await ask('index.pagesUnder', { domain: pattern });
      return mayMove(pattern) ? [...new Set([...under, ...(await pagesSubmittedUnder(pattern))])] : under;
    }
    const no = reader.pages.numberByUrl(pattern);
    const older = await pagesOfOlderForms(pattern);
    return no === undefined ? older : [no, ...older.filter((other) => other !== no)];
  };

  /** Pages that were submitted under this domain but are stored under an address of another domain. */
  const pagesSubmittedUnder = async (domain: string): Promise<number[]> => {
    const { pages } = reader;
    const found: number[] = [];
    for await (const numbers of inParts((after) => pages.numbersAfter(after, slicePages), Number)) {
      found.push(...numbers.filter((no) => domainMatches(hostOf(pages.head(no)?.original_url ?? ''), domain)));
    }
    return found;
  };

  /** Pages stored under an earlier canonical URL of this address. Settings change its query, rules also its domain. */
  const pagesOfOlderForms = async (pattern: string): Promise<number[]> => {
    const address = canonicalizeUrl(pattern, canonicalize);
    if ('invalid' in address) return [];
    const domains = [address.domain, ...(canonicalize.known_addresses ? movedDomains : [])];
    const under = await Promise.all(domains.map((domain) => ask('index.pagesUnder', { domain })));
    const candidates = [...new Set(under.flat())];
    const found: number[] = [];
    const place = withoutQuery(pattern);
    for (let at = 0; at < candidates.length; at += slicePages) {
      if (at > 0) await new Promise(setImmediate);
      for (const no of candidates.slice(at, at + slicePages)) {
        const page = reader.pages.head(no);
        if (page === undefined) continue;
        if (withoutQuery(page.canonical_url) !== place && !mayMove(page.domain)) continue;
        if (isNow(page.canonical_url, pattern) || isNow(page.original_url, pattern)) found.push(no);
      }
    }
    return found;
  };

  const isNow = (url: string, canonicalUrl: string): boolean => {
    const now = canonicalizeUrl(url, canonicalize);
    return !('invalid' in now) && now.canonical_url === canonicalUrl;
  };

  const erasePagesOf = async (pageNos: readonly number[], onSlice: (left: number) => void): Promise<number> => {
    let pages = 0;
    /** Pages that are erased and hidden, but still in the index. */
    const held: forget.ErasedPage[] = [];
    let labels = 0;
    const letGo = async () => {
      labels = 0;
      await removeFromIndex(held.splice(0));
    };
    try {
      for (let at = 0; at < pageNos.length; ) {
        onSlice(pageNos.length - at);
        const slice = eraseInTime(pageNos.slice(at, at + slicePages));
        const { erased, looked } = await commit(slice, maxBatch);
        at += looked;
        pages += erased.length;
        held.push(...erased);
        for (const { count } of erased) labels += count;
        if (labels >= removedLabels) await letGo();
      }
    } finally {
      await letGo();
    }
    return pages;
  };

  /** The time limit starts when the writer runs it. */
  const eraseInTime =
    (pageNos: readonly number[]): Command<forget.ErasedSlice> =>
    (transaction) => {
      const until = monotonic() + sliceMs;
      return forget.erasePages(pageNos, now(), () => monotonic() >= until)(transaction);
    };

  const removeFromIndex = async (erased: readonly forget.ErasedPage[]): Promise<void> => {
    const pages = erased.filter(({ count }) => count > 0);
    if (pages.length > 0) await ask('index.remove', { pages });
  };

  /** Failed import items have no pages, but their addresses are stored. */
  const eraseFailures = async (): Promise<void> => {
    const failuresAfter = (after: FailureKey | null) => reader.imports.allFailures(after, sliceFailures);
    for await (const some of inParts(failuresAfter, ({ key }) => key, { after: null })) {
      const keys = some.filter(({ value }) => isForgotten(value.url)).map(({ key }) => key);
      if (keys.length === 0) continue;
      try {
        await commit(forgetFailures(keys));
      } finally {
        onUntracked(); // even if refused: the writer may still run it, and a second try would find nothing
      }
    }
  };

  const isForgotten = (url: string): boolean => {
    const canonical = canonicalizeUrl(url, canonicalize);
    return !('invalid' in canonical) && reader.blacklist.match({ ...canonical, original_url: url }) !== undefined;
  };

  /** Queue jobs for erased pages without one; returns how many. Errors: those of the writer. */
  const queuePurges = async (): Promise<number> => {
    let jobs = 0;
    while ((await commit(forget.queuePurge(now(), maxAttempts), maxBatch)) !== null) jobs++;
    return jobs;
  };

  return { erase, eraseDomain, noteSettings: noteEarlierSettings, adoptOrphans, removeFromIndex, queuePurges };
}
