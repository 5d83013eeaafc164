/**
 * Forgetting: puts rules and takes them away, erases what they match, and later has every file rewritten without it. Forgets run
 * one after the other. What a crash interrupts is taken up at the next start, from the rules that are still purging and the
 * tombstones that are not verified. docs/forgetting.md has the states and what holds between the steps.
 *
 * resting  nothing forgotten is left in a file
 * due      something is: a rewrite follows when nothing was forgotten for `compactAfterMs`, and topics have their new names
 * rewrite  index files, then the store's file, then the check; when it fails (no room on the disk) it is due again
 */
import type { Logger } from 'pino';
import {
  beginForget,
  type ErasedPage,
  type ErasedSlice,
  endForget,
  erasePages,
  type ForgetTarget,
  markVerified,
  orphanPurges,
  queuePurge,
  removeRule,
} from '../../commands/forget.ts';
import { forgetFailures } from '../../commands/import-items.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { isPublicSuffix, normalizeDomain } from '../../compute/web/domain-match.ts';
import type { BlacklistResponse, ForgetRequest, ForgetResponse } from '../../domain/blacklist.ts';
import { maxTimerMs } from '../../domain/durations.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import { idOf, isoOf, numberOf } from '../../domain/ids.ts';
import { inFlightStatuses } from '../../domain/job.ts';
import { maxBatch } from '../../machines/writer.ts';
import type { BlacklistRule } from '../../store/blacklist.ts';
import type { FailureKey } from '../../store/imports.ts';
import type { Command, StoreReader } from '../../store/store.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import { type Handlers, type ServiceHooks, serviceLogic } from '../system/service.ts';
import { commitThrough, type SystemAsk } from '../system/system-messages.ts';
import { tellProgress } from '../system/tell-progress.ts';

export interface ForgettingDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  feed: CommitFeed;
  canonicalize: CanonicalizeSettings;
  maxAttempts: number;
  compactAfterMs: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  /** Ms, for what lasts. */
  monotonic: () => number;
}

type ForgettingMessages = 'page.forget' | 'blacklist.list' | 'blacklist.remove';

/** Pages erased in one transaction at most, and how long that goes on, ms: pages differ a hundredfold in what they own. */
const slicePages = 100;
const sliceMs = 4;
/** Labels that the index is asked to let go of at once: some ms, and a round trip to every shard. */
const removedLabels = 2000;
/** The weight of a slice: it shares its transaction with nobody. */
const wholeBatch = maxBatch;
/** Tombstones verified in one transaction: some ms. */
const sliceTombstones = 500;
/** Failures of imports that are looked at before others get their turn: 1 ms. */
const sliceFailures = 50;
/** Before the index is asked again when too much waits for it, ms. */
const busyMs = 200;
/** Before what the last process left is tried again, ms. */
const retryMs = 1000;

export function forgettingLogic(dependencies: ForgettingDependencies) {
  const { ask, reader, feed, canonicalize, maxAttempts, compactAfterMs, log, now, monotonic } = dependencies;
  const commit = commitThrough(ask);

  const targetOf = ({ url, domain, reason }: ForgetRequest): ForgetTarget => {
    const rest = { reason: reason ?? null, at: now() };
    if (url != null) {
      const canonical = canonicalizeUrl(url, canonicalize);
      if ('invalid' in canonical) throw new DomainError('invalid', canonical.invalid);
      return { kind: 'url', pattern: canonical.canonical_url, ...rest };
    }
    const pattern = normalizeDomain(domain ?? '');
    if (typeof pattern !== 'string') throw new DomainError('invalid', pattern.invalid);
    if (isPublicSuffix(pattern)) {
      throw new DomainError('invalid', `anybody may have a domain under ${pattern}: name the one that is meant`);
    }
    return { kind: 'domain', pattern, ...rest };
  };

  const isForgotten = (url: string): boolean => {
    const canonical = canonicalizeUrl(url, canonicalize);
    return !('invalid' in canonical) && reader.blacklist.match(canonical.canonical_url, canonical.domain) !== undefined;
  };

  /** Topics still are called by words of pages that they have lost, and a job that names them anew is on its way. */
  const namesWait = (): boolean =>
    reader.clusters.all().some(({ stale, tombstoned }) => stale && !tombstoned) &&
    inFlightStatuses.some((status) => reader.jobs.list({ status, kind: 'label_clusters', limit: 1 }).length > 0);

  const start = async ({ ending }: ServiceHooks) => {
    let stopping = false;
    let timer: NodeJS.Timeout | undefined;
    let resuming: NodeJS.Timeout | undefined;
    let tail: Promise<unknown> = Promise.resolve();
    let tidying: Promise<void> | undefined;
    /** Files may hold what was forgotten although no tombstone says so: files of an older time, or what was no page. */
    let filesDue = false;

    /** Forgets and removals of rules, one at a time. */
    const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
      const done = tail.then(work);
      tail = done.catch(() => undefined);
      return done;
    };

    /** The index lets go of pages; what it lacks room for now it is asked again. */
    const removeFromIndex = async (pages: readonly ErasedPage[]): Promise<void> => {
      const indexed = pages.filter(({ count }) => count > 0);
      while (indexed.length > 0) {
        try {
          return await ask('index.remove', { pages: indexed });
        } catch (error) {
          if (stopping || !(error instanceof DomainError && error.code === 'overloaded')) throw error;
          await new Promise((resolve) => setTimeout(resolve, busyMs));
        }
      }
    };

    /** The time counts from when the writer comes to it. */
    const eraseInTime = (pageNos: readonly number[]): Command<ErasedSlice> => {
      return (transaction) => {
        const until = monotonic() + sliceMs;
        return erasePages(pageNos, now(), () => monotonic() >= until)(transaction);
      };
    };

    /** Items that an import could not take in were never pages, and their addresses were kept. */
    const forgetFailed = async (): Promise<void> => {
      let after: FailureKey | null = null;
      for (;;) {
        const some: ReturnType<StoreReader['imports']['allFailures']> = reader.imports.allFailures(
          after,
          sliceFailures,
        );
        const keys = some.filter(({ value }) => isForgotten(value.url)).map(({ key }) => key);
        if (keys.length > 0) {
          filesDue = true;
          await commit(forgetFailures(keys));
          arm();
        }
        after = some.at(-1)?.key ?? null;
        if (some.length < sliceFailures) return;
        await new Promise(setImmediate);
      }
    };

    /**
     * Erase everything that a rule matches, and queue what is left to do. May be done again at any time. `onSlice` is told how many
     * pages are left before each slice, and what it throws ends the purge.
     */
    const purge = async (
      rule: BlacklistRule,
      onSlice: (left: number) => void = () => {},
    ): Promise<{ pages: number; jobs: number }> => {
      const pageNos =
        rule.kind === 'domain'
          ? await ask('index.pagesUnder', { domain: rule.pattern })
          : [reader.pages.numberByUrl(rule.pattern) ?? 0].filter((no) => no !== 0);
      let pages = 0;
      /** Erased, hidden from searches, and still in the index. */
      const waiting: ErasedPage[] = [];
      let labels = 0;
      const letGo = async () => {
        labels = 0;
        await removeFromIndex(waiting.splice(0));
      };
      try {
        for (let at = 0; at < pageNos.length; ) {
          onSlice(pageNos.length - at);
          const { erased, looked } = await commit(eraseInTime(pageNos.slice(at, at + slicePages)), wholeBatch);
          at += looked;
          pages += erased.length;
          waiting.push(...erased);
          for (const { count } of erased) labels += count;
          if (labels >= removedLabels) await letGo();
        }
      } finally {
        await letGo();
      }
      await forgetFailed();
      let jobs = 0;
      while ((await commit(queuePurge(now(), maxAttempts), wholeBatch)) !== null) jobs++;
      await commit(endForget(rule.no));
      return { pages, jobs };
    };

    const arm = () => {
      clearTimeout(timer);
      if (stopping) return;
      timer = setTimeout(
        () => {
          tidying = (tidying ?? Promise.resolve()).then(tidy);
        },
        Math.min(maxTimerMs, compactAfterMs),
      );
    };

    /** Rewrite every file, if one may hold what was forgotten. */
    const tidy = async (): Promise<void> => {
      const pageNos = reader.tombstones.pageNumbers('deleted');
      if (stopping || (pageNos.length === 0 && !filesDue)) return;
      if (namesWait()) return arm();
      try {
        const { clean } = await ask('index.purge', {});
        const sizes = await ask('store.compact', {});
        if (!clean) return arm(); // something was indexed meanwhile
        for (let at = 0; at < pageNos.length; at += sliceTombstones) {
          await commit(markVerified(pageNos.slice(at, at + sliceTombstones)), wholeBatch);
        }
        filesDue = false;
        log.info({ pages: pageNos.length, ...sizes }, 'what was forgotten is out of every file');
      } catch (error) {
        if (stopping) return;
        log.warn(
          { err: error, pages: pageNos.length },
          'files that hold forgotten text could not be rewritten: tried again',
        );
        arm();
      }
    };

    const unsubscribe = feed.subscribe('durable', ({ tombstones }) => {
      if (tombstones.some(({ state }) => state !== 'verified')) arm();
    });

    /**
     * Purges that the last process left undone. Their pages could be read by their ids, so nothing is served before they are done,
     * however often that fails (a full disk, say).
     */
    const finishPurges = async (): Promise<void> => {
      while (!ending.aborted) {
        const rules = reader.blacklist.purging();
        if (rules.length === 0) return;
        log.info({ rules: rules.length }, 'a purge that was interrupted goes on');
        const left = { rules: rules.length, pages: 0 };
        const tell = () =>
          log.info({ rules_left: left.rules, pages_left: left.pages }, 'erasing what was being forgotten');
        const onSlice = (pages: number) => {
          ending.throwIfAborted();
          left.pages = pages;
        };
        try {
          await tellProgress(tell, async () => {
            for (const rule of rules) {
              await purge(rule, onSlice);
              left.rules--;
            }
          });
        } catch (error) {
          if (ending.aborted) return;
          log.error(
            { err: error },
            'an interrupted purge could not be finished: tried again, and nothing is served before',
          );
          await new Promise((resolve) => setTimeout(resolve, retryMs));
        }
      }
    };

    /** What else the last process left undone: nothing of it can be read. */
    const resume = async (): Promise<void> => {
      if (ending.aborted) return;
      try {
        let pages = 0;
        for (let slice = -1; slice !== 0; pages += slice) slice = await commit(orphanPurges(), wholeBatch);
        if (pages > 0) log.info({ pages }, 'a purge that was interrupted goes on');
        while ((await commit(queuePurge(now(), maxAttempts), wholeBatch)) !== null);
        const { dropped, setAside } = await ask('index.heldAtStart', {});
        filesDue ||= (dropped > 0 || setAside) && reader.tombstones.any();
        arm();
      } catch (error) {
        if (ending.aborted) return;
        log.warn({ err: error }, 'what an earlier process left of forgotten pages could not be taken up: tried again');
        resuming = setTimeout(() => void inTurn(resume), retryMs);
      }
    };
    await inTurn(finishPurges);
    await inTurn(resume);

    const handlers: Handlers<ForgettingMessages> = {
      'page.forget': async (request): Promise<ForgetResponse> => {
        const target = targetOf(request);
        return inTurn(async () => {
          const rule = await commit(beginForget(target));
          const { pages, jobs } = await purge(rule);
          return {
            blacklist_id: idOf('blacklist', rule.no),
            pattern: rule.pattern,
            kind: rule.kind,
            pages_purged: pages,
            vector_deletes_queued: jobs,
          };
        });
      },
      'blacklist.list': (): BlacklistResponse => ({
        entries: reader.blacklist.list().map(({ no, pattern, kind, reason, created_at }) => ({
          id: idOf('blacklist', no),
          pattern,
          kind,
          reason,
          created_at: isoOf(created_at),
        })),
      }),
      'blacklist.remove': async ({ blacklist_id }) =>
        inTurn(async () => {
          const no = numberOf('blacklist', blacklist_id);
          const rule = no === null ? undefined : reader.blacklist.get(no);
          if (rule?.purging) await purge(rule); // what it forgets is not saved by taking it away
          if (rule === undefined || !(await commit(removeRule(rule.no)))) {
            throw unknownId('blacklist', blacklist_id);
          }
          return undefined;
        }),
    };

    return {
      handlers,
      stop: async () => {
        stopping = true;
        clearTimeout(timer);
        clearTimeout(resuming);
        unsubscribe();
        await tail;
        await tidying;
      },
    };
  };
  return serviceLogic<ForgettingMessages>('forgetting', start);
}
