/**
 * Repair a store in one transaction. Rows are believed: indexes are made again from them, what belongs to no page is deleted, and a
 * page whose chunks, vectors, labels or job do not agree with it is indexed again from its text. Entities are counted again from what
 * pages mention, clusters from where runs have put the pages. Run by `fsck --repair` on a store
 * that nothing else uses.
 */
import { areChunksOf, type Page, pageStatusUnder } from '../domain/page.ts';
import { beginPage } from '../machines/page.ts';
import type { Command, Transaction } from '../store/store.ts';
import { purgeErased } from './erase-page.ts';
import { createJob, type JobPolicy, moveJob } from './move-job.ts';
import { repairClusters } from './repair-clusters.ts';
import { repairEntities } from './repair-entities.ts';
import { repairGaps, repairModels } from './repair-models.ts';

export interface StoreRepairs {
  /** Texts, chunk lists, vectors and gaps of no page, vectors and gaps of no model, items of no watch. */
  orphans_dropped: number;
  /** Pages that will be indexed again. */
  pages_requeued: number;
  /** Logged queries that cannot be read, and feedback on no query. */
  queries_dropped: number;
  /** Rows of entities, and of what pages mention, that were made again or dropped. */
  entities_repaired: number;
  /** Runs, points and rows of clusters that were made again or dropped. */
  clusters_repaired: number;
}

export function repairStore({ at, max_attempts }: JobPolicy): Command<StoreRepairs> {
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
      const page = pages.get(no);
      if (page === undefined) continue;
      const labels = Array.from({ length: page.chunk_count }, (_, ordinal) => page.first_label + ordinal);
      const sound = labels.every((label) => label >= 1 && !taken.has(label)) && isSound(transaction, page);
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

function isSound({ pages, jobs, vectors, models, backfills }: Transaction, page: Page): boolean {
  const job = jobs.get(page.index_job);
  if (job === undefined || job.page_no !== page.no || page.status !== pageStatusUnder[job.status]) return false;
  if (page.status === 'indexed' && (!pages.hasBody(page.no) || page.indexed_at === null)) return false;
  if (!pages.isWhole(page.no)) return false;
  const chunks = pages.chunks(page.no);
  const length = pages.bodyLength(page.no) ?? 0;
  if (chunks.length !== page.chunk_count || !areChunksOf(length, chunks)) return false;
  return models.all().every(({ id, space, dim, status }) => {
    const numbers = vectors.get(space, page.no)?.length ?? 0;
    const mayLack = id !== models.activeId() || status !== 'ready' || backfills.hasGap(space, page.no);
    return numbers === chunks.length * dim || (numbers === 0 && mayLack);
  });
}

/** Start the page's indexing again; its old content is taken back, and its labels are never used again. */
function requeue(transaction: Transaction, page: Page, { at, max_attempts }: JobPolicy): void {
  const { pages, jobs } = transaction;
  const old = jobs.get(page.index_job);
  if (old?.page_no === page.no) moveJob(transaction, old, { type: 'cancel', at, reason: 'replaced by a repair' });
  pages.mendBody(page.no);
  const kind = !pages.hasBody(page.no) ? 'fetch_and_index' : 'index_page';
  const job = createJob(transaction, { kind, page_no: page.no, max_attempts, at });
  pages.putChunks(page.no, []);
  purgeErased(transaction, page.no);
  const content_hash = pages.hasBody(page.no) ? page.content_hash : null;
  pages.put(beginPage({ ...page, content_hash }, job), page);
}
