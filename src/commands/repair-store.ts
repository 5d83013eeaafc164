/**
 * Repairs a store in one transaction. Rows are trusted: indexes are rebuilt from them, orphans deleted, and a page whose chunks,
 * vectors, labels or job disagree with it is indexed again from its text. Run by `fsck --repair` on a store that nothing else uses.
 */
import { hash } from 'node:crypto';
import { areVisitsSound } from '../compute/structures/visit-times.ts';
import { isInFlight } from '../domain/job.ts';
import { areChunksOf, type Page, pageStatusUnder } from '../domain/page.ts';
import { beginPage } from '../machines/page.ts';
import { auditClusters } from '../store/audit-clusters.ts';
import type { Command, Transaction } from '../store/store.ts';
import { purgeErased } from './forget.ts';
import { createJob, type JobPolicy, moveJob } from './move-job.ts';
import { repairEntities } from './repair-entities.ts';
import { repairGaps, repairModels } from './repair-models.ts';

interface StoreRepairs {
  /** Orphaned texts, chunk lists, vectors, gaps and watch items. */
  orphans_dropped: number;
  pages_requeued: number;
  /** Unreadable queries and orphaned feedback. */
  queries_dropped: number;
  entities_repaired: number;
  clusters_repaired: number;
}

/** `changed`: pages to index again in any case. */
export function repairStore(
  { at, max_attempts }: JobPolicy,
  changed: ReadonlySet<number> = new Set(),
): Command<StoreRepairs> {
  return (transaction) => {
    const { pages, jobs, blacklist, watches, queryLog, counters } = transaction;
    jobs.rebuildIndexes();
    pages.rebuildIndexes();
    blacklist.rebuildIndexes();
    watches.rebuildIndexes();
    counters.raiseAbove('job', jobs.lastNumber());
    counters.raiseAbove('page', pages.lastNumber());
    counters.raiseAbove('watch', watches.lastNumber());
    const queriesDropped = queryLog.dropUnsound(counters.peek('page') - 1);
    queryLog.rebuildIndexes();
    counters.raiseAbove('query', queryLog.lastNumber());
    const orphans = pages.dropOrphans() + watches.dropOrphans() + repairModels(transaction, { at });

    const taken = new Set<number>();
    let lastLabel = 0;
    let requeued = 0;
    for (const { no } of [...pages.all()]) {
      const page = mendVisits(transaction, pages.get(no));
      if (page === undefined) continue;
      const labels = Array.from({ length: page.chunk_count }, (_, ordinal) => page.first_label + ordinal);
      const sound =
        labels.every((label) => label >= 1 && !taken.has(label)) && !changed.has(no) && isSound(transaction, page);
      for (const label of labels) {
        lastLabel = Math.max(lastLabel, label);
        taken.add(label);
      }
      if (sound) {
        repairGaps(transaction, no, page.chunk_count, { at, max_attempts });
        continue;
      }
      requeue(transaction, page, { at, max_attempts });
      requeued++;
    }
    counters.raiseAbove('label', lastLabel);
    return {
      orphans_dropped: orphans,
      pages_requeued: requeued,
      queries_dropped: queriesDropped,
      entities_repaired: repairEntities(transaction),
      clusters_repaired: repairClusters(transaction),
    };
  };
}

/** Of unreadable visits the first and the last stay. */
function mendVisits({ pages }: Transaction, page: Page | undefined): Page | undefined {
  if (page === undefined || areVisitsSound(page)) return page;
  const { visits: _, ...mended } = page;
  pages.put(mended, page);
  return mended;
}

function isSound({ pages, jobs, vectors, models, backfills }: Transaction, page: Page): boolean {
  const job = jobs.get(page.index_job);
  if (job === undefined || job.page_no !== page.no || page.status !== pageStatusUnder[job.status]) return false;
  if (page.status === 'indexed' && (!pages.hasBody(page.no) || page.indexed_at === null)) return false;
  if (!pages.isWhole(page.no) || !pages.isUnchanged(page)) return false;
  const chunks = pages.chunks(page.no);
  const length = pages.bodyLength(page.no) ?? 0;
  if (chunks.length !== page.chunk_count || !areChunksOf(length, chunks)) return false;
  return models.all().every(({ id, space, dim, status }) => {
    const rows = vectors.get(space, page.no);
    if (rows?.every(Number.isFinite) === false) return false;
    const numbers = rows?.length ?? 0;
    const mayLack = id !== models.activeId() || status !== 'ready' || backfills.hasGap(space, page.no);
    return numbers === chunks.length * dim || (numbers === 0 && mayLack);
  });
}

/** Index the page again; its old content is removed and its labels are never reused. */
function requeue(transaction: Transaction, page: Page, { at, max_attempts }: JobPolicy): void {
  const { pages, jobs } = transaction;
  const old = jobs.get(page.index_job);
  if (old?.page_no === page.no) moveJob(transaction, old, { type: 'cancel', at, reason: 'replaced by a repair' });
  pages.mendBody(page.no);
  const kind = !pages.hasBody(page.no) ? 'fetch_and_index' : 'index_page';
  const job = createJob(transaction, { kind, page_no: page.no, max_attempts, at });
  pages.putChunks(page.no, []);
  purgeErased(transaction, page.no);
  // A changed text is all there is: a backup may have the original.
  const body = pages.body(page.no);
  const content_hash = body === undefined ? null : hash('sha256', body);
  pages.put(beginPage({ ...page, content_hash }, job), page);
}

/** Topics that disagree with their pages or runs are cleared: the next run finds them again. Gives the number of faults. */
function repairClusters({ clusters, counters, pages, jobs }: Transaction): number {
  const runs = clusters.runs(Number.MAX_SAFE_INTEGER);
  const known = [...clusters.all(), ...runs.flatMap(({ draft }) => draft ?? [])];
  counters.raiseAbove('cluster_run', runs[0]?.no ?? 0);
  counters.raiseAbove('cluster', Math.max(0, ...known.map(({ no }) => no)));
  const numbers = { nextCluster: counters.peek('cluster'), nextRun: counters.peek('cluster_run') };
  const faults = auditClusters({ clusters, pages, jobs, ...numbers }).length;
  if (faults > 0) clusters.clear(({ job_no, finished_at }) => finished_at === null && isInFlight(jobs.get(job_no)));
  return faults;
}
