/** Forgetting (docs/forgetting.md). A rule blocks pages; while `purging`, its pages are erased in repeatable steps. */
import type { RuleKind, RuleSettings } from '../domain/blacklist.ts';
import { isInFlight, type Job } from '../domain/job.ts';
import type { Page } from '../domain/page.ts';
import { newTombstone, nextTombstone, type TombstoneEvent } from '../machines/tombstone.ts';
import { type BlacklistRule, settingsKey } from '../store/blacklist.ts';
import type { Command, Transaction } from '../store/store.ts';
import { forgetMembership, forgetOldNames, queueNamingOfStale } from './cluster-runs.ts';
import { type Attempt, createJob, type JobPolicy, moveJob, ownsJob } from './move-job.ts';
import { removePageEntities } from './page-entities.ts';

/** Pages per purge job. Source: design, "forget of a known target". */
const pagesPerJob = 500;

export interface ForgetTarget {
  kind: RuleKind;
  /** Canonical URL, or domain in its comparable form. */
  pattern: string;
  /** Settings that made the pattern canonical. */
  settings?: RuleSettings;
  reason: string | null;
  at: number;
}

export function beginForget({ kind, pattern, settings, reason, at }: ForgetTarget): Command<BlacklistRule> {
  return ({ blacklist, counters }) => {
    const known = blacklist.find(kind, pattern);
    const fresh = () => ({ no: counters.take('blacklist'), kind, pattern, reason, created_at: at });
    return blacklist.begin(madeBy(known ?? fresh(), settings));
  };
}

export function noteSettings(settings: RuleSettings): Command<void> {
  return ({ blacklist }) => {
    for (const rule of blacklist.withoutSettings()) blacklist.put(madeBy(rule, settings));
  };
}

function madeBy<Rule extends Omit<BlacklistRule, 'purging'>>(rule: Rule, settings: RuleSettings | undefined): Rule {
  const known = rule.canonicalized_by ?? [];
  if (settings === undefined || known.some((each) => settingsKey(each) === settingsKey(settings))) return rule;
  return { ...rule, canonicalized_by: [...known, settings] };
}

export interface ErasedPage {
  page_no: number;
  first: number;
  count: number;
}

export interface ErasedSlice {
  erased: ErasedPage[];
  /** Number of pages examined from the start of the slice. */
  looked: number;
}

/** Erase at least one page, until `enough`; skips deleted pages. */
export function erasePages(pageNos: readonly number[], at: number, enough = () => false): Command<ErasedSlice> {
  return (transaction) => {
    const slice: ErasedSlice = { erased: [], looked: 0 };
    for (const no of pageNos) {
      slice.looked++;
      const page = transaction.pages.get(no);
      if (page === undefined) continue;
      erasePage(transaction, page, at);
      slice.erased.push({ page_no: no, first: page.first_label, count: page.chunk_count });
      if (enough()) break;
    }
    return slice;
  };
}

/** Queue one purge job for up to 500 erased pages without one; null if there are none. */
export function queuePurge(at: number, max_attempts: number): Command<Job | null> {
  return (transaction) => {
    const pageNos = transaction.tombstones.pageNumbers('pending', { job_no: 0, limit: pagesPerJob });
    if (pageNos.length === 0) return null;
    const job = createJob(transaction, { kind: 'purge_vectors', page_no: null, max_attempts, at });
    moveTombstones(transaction, pageNos, { type: 'assigned', job_no: job.no });
    return job;
  };
}

/** At startup: detach the pages of one job that is dead or gone. */
export function orphanPurges(): Command<number> {
  return (transaction) => {
    const { jobs, tombstones } = transaction;
    const stuck: number[] = [];
    for (const no of tombstones.pageNumbers('pending')) {
      const jobNo = tombstones.get(no)?.job_no ?? 0;
      if (jobNo !== 0 && !isInFlight(jobs.get(jobNo))) stuck.push(no);
      if (stuck.length === pagesPerJob) break;
    }
    moveTombstones(transaction, stuck, { type: 'assigned', job_no: 0 });
    return stuck.length;
  };
}

/** Queue the renaming of topics that lost pages, so that no rewrite of the files begins before it. */
export function endForget(ruleNo: number, { at, max_attempts }: JobPolicy): Command<void> {
  return (transaction) => {
    renameTopics({ at, max_attempts })(transaction);
    transaction.blacklist.end(ruleNo);
  };
}

export function renameTopics({ at, max_attempts }: JobPolicy): Command<void> {
  return (transaction) => {
    forgetOldNames(transaction);
    queueNamingOfStale(at, max_attempts)(transaction);
  };
}

/** False for an unknown rule. Erased pages stay erased. */
export function removeRule(ruleNo: number): Command<boolean> {
  return ({ blacklist }) => {
    const rule = blacklist.get(ruleNo);
    if (rule !== undefined) blacklist.remove(rule);
    return rule !== undefined;
  };
}

/** False if the attempt no longer owns the job. */
export function purgeSlice(attempt: Attempt, pageNos: readonly number[]): Command<boolean> {
  return (transaction) => {
    if (!ownsJob(transaction, attempt)) return false;
    for (const no of pageNos) purgeErased(transaction, no);
    return true;
  };
}

/** Called in the transaction that completes the purge job. */
export function markDeleted(transaction: Transaction, jobNo: number): void {
  moveTombstones(transaction, transaction.tombstones.pageNumbers('pending', { job_no: jobNo }), { type: 'purged' });
}

/** Call when the files were rewritten and checked after these pages were deleted. */
export function markVerified(pageNos: readonly number[]): Command<void> {
  return (transaction) => moveTombstones(transaction, pageNos, { type: 'rewritten' });
}

export function moveTombstones({ tombstones }: Transaction, pageNos: readonly number[], event: TombstoneEvent): void {
  for (const no of pageNos) {
    const tombstone = tombstones.get(no);
    const moved = tombstone === undefined ? null : nextTombstone(tombstone, event);
    if (moved !== null) tombstones.put(moved);
  }
}

/*
 * What a page owns. A new kind of record needs a line in `erasePage` (everything that answers show, before a forget is
 * answered) or in `purgeErased` (the rest, in a job soon after).
 */

const CANCELLED = 'cancelled: page forgotten';

/** Remove a page from all answers. Its purge job deletes vectors and log entries. */
export function erasePage(transaction: Transaction, page: Page, at: number, reason = CANCELLED): void {
  for (const no of [page.index_job, page.entity_job, page.facts_job, page.refresh_job])
    if (no != null) cancelForgottenJob(transaction, no, at, reason);
  removePageEntities(transaction, page.no);
  forgetMembership(transaction, page.no);
  transaction.pages.remove(page);
  transaction.tombstones.put(newTombstone(page, at));
}

/** Delete what remains of an erased page or a replaced content, except query log entries, which a bulk search finds. */
function purgeErased({ vectors, refusedTexts, models, backfills }: Transaction, pageNo: number): void {
  for (const { space } of models.all()) {
    vectors.remove(space, pageNo);
    refusedTexts.remove(space, pageNo);
    backfills.closeGap(space, pageNo);
  }
}

/** Cancel a job of a forgotten page and clear its errors, which may contain a URL. */
function cancelForgottenJob(transaction: Transaction, no: number, at: number, reason: string): void {
  const job = transaction.jobs.get(no);
  const cancelled = job && moveJob(transaction, job, { type: 'cancel', at, reason });
  if (job !== undefined && cancelled === null) moveJob(transaction, job, { type: 'silence', at, message: reason });
}
