/** A data folder to check and to damage: pages, models, entities, topics, a watch and logged searches, written by the service's own commands. */

import { hash } from 'node:crypto';
import { createWatch, runWatch } from '../../src/commands/change-watches.ts';
import { finishRun, startRun, storeDraft, storePoints } from '../../src/commands/cluster-runs.ts';
import { commitContent } from '../../src/commands/commit-content.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { appendRuns, giveFeedback } from '../../src/commands/log-queries.ts';
import { installModel } from '../../src/commands/manage-models.ts';
import { mergeEntities, splitMerge } from '../../src/commands/merge-entities.ts';
import { completeJob } from '../../src/commands/move-job.ts';
import type { QueryRun } from '../../src/domain/query-log.ts';
import { idOf } from '../../src/domain/values.ts';
import { Store } from '../../src/store/store.ts';
import { mentioning } from '../commands/mentioning.ts';
import { submission } from '../commands/submissions.ts';
import { chunkRow } from '../machines/rows.ts';
import { queryRun } from '../store/query-runs.ts';
import { claimDue } from '../store/temporary-store.ts';

export const dim = 4;

/** A folder with three indexed pages of two chunks each, written by the service's own commands; no index files. */
export async function makeFolder(dir: string): Promise<void> {
  const store = await Store.open(dir, () => 'store-1');
  const model = { id: 'm', provider: 'local', model_name: 'm', dim, max_input_tokens: 9, floor: null };
  await store.commit(installModel(model, { at: 0, max_attempts: 1 }));
  for (const name of ['a', 'b', 'c']) {
    const url = `https://${name}.example/`;
    const body = 'first half. second half.';
    const text = { title: `Title ${name}`, body, content_hash: hash('sha256', body), source: null };
    const at = { seen_at: 1, at: 1, max_attempts: 5 };
    const page = { canonical_url: url, original_url: url, domain: `${name}.example`, ...text, ...at };
    await store.commit(ingestPage(submission(page)));
  }
  const claimed = await store.commit(claimDue(2, { leaseMs: 1000 }));
  for (const job of claimed.jobs) {
    const attempt = { job_no: job.no, claim: job.claim };
    const chunks = [chunkRow(0, 11, { token_count: 2 }), chunkRow(12, 24, { token_count: 2 })];
    const vectors = new Map([[1, new Float32Array(2 * dim).fill(0.5)]]);
    await store.commit(commitContent(attempt, { page_no: job.page_no ?? 0, chunks, vectors }));
    await store.commit(completeJob(attempt, 3));
  }
  await addEntities(store);
  await addClusters(store);
  await addWatch(store);
  await store.commit(appendRuns([loggedRun('q1', null), loggedRun('q2', 'c1')]));
  await store.commit(giveFeedback({ query_id: 'q1', page_id: idOf('page', 1), relevant: true }));
  await store.close();
}

/** One that has been polled, and two items that it has brought in, one of them under a second address. */
async function addWatch(store: Store): Promise<void> {
  const given = { url: 'https://a.example/feed', kind: 'podcast', title: null, enabled: true } as const;
  const { no } = await store.commit(
    createWatch({ ...given, interval_hours: 24, config: null, identity: given.url, at: 3 }),
  );
  await store.commit(runWatch(no, { at: 3, max_attempts: 1 }));
  await store.commit(({ watches }) => {
    for (const name of ['a', 'b', 'c']) watches.noteItem(no, name === 'a' ? 'one' : 'two', `https://${name}.example/`);
  });
}

/** Entities 1 Acme over 3 Acme Corp, 2 Oslo, and 4 Bergen beside 5 Bergen City, whose merge was undone. */
async function addEntities(store: Store): Promise<void> {
  await store.commit(mentioning(1, 'organization: Acme', 'organization: ACME', 'place: Oslo'));
  await store.commit(mentioning(2, 'organization: Acme Corp', 'place: Oslo'));
  await store.commit(mentioning(3, 'place: Bergen', 'place: Bergen City'));
  const [, undone] = [await store.commit(mergeEntities(1, 3, 4)), await store.commit(mergeEntities(4, 5, 4))];
  await store.commit(splitMerge(undone?.no ?? 0, 5, { latestOnly: true }));
}

/** Two runs: in the first pages 1 and 2 are in cluster 1 and page 3 in cluster 2, in the second page 3 is in cluster 3. */
async function addClusters(store: Store): Promise<void> {
  for (const [round, third] of [2, 3].entries()) {
    const begun = await store.commit(startRun({ trigger: 'manual', params: {}, at: 6, max_attempts: 5 }));
    const { jobs } = await store.commit(claimDue(7, { leaseMs: 1000 }));
    const job = jobs.find(({ kind }) => kind === 'cluster');
    const attempt = { job_no: job?.no ?? 0, claim: job?.claim ?? 0 };
    const point = { probability: 1, x: 1, y: 2, since: false };
    const points = [1, 1, third].map((cluster_no, at) => ({ page_no: at + 1, cluster_no, ...point }));
    const drafts = [1, third].map((no, at) => ({ no, size: 2 - at, x: 1, y: 2 }));
    const runNo = begun?.no ?? 0;
    await store.commit(({ counters }) => counters.take('cluster', round === 0 ? 2 : 1));
    await store.commit(storePoints(attempt, runNo, points));
    await store.commit(storeDraft(attempt, runNo, drafts, {}));
    const keywords = new Map([1, third].map((no) => [no, [`word ${no}`]]));
    await store.commit((transaction) => {
      finishRun(transaction, runNo, { keywords, at: 8, keepFrom: 0 });
      completeJob(attempt, 8)(transaction);
    });
  }
}

function loggedRun(query_id: string, compare_id: string | null): QueryRun {
  const hits = { labels: Uint32Array.of(1, 3), page_nos: Uint32Array.of(1, 2), scores: Float64Array.of(0.9, 0.5) };
  return queryRun({
    ...{ query_id, ts: 5, kind: compare_id === null ? 'search' : 'compare_arm', compare_id, query_text: 'half' },
    ...{ params: {}, active_model: 'm', candidate_set: hits, dense_hits: hits, sparse_hits: hits, timing_ms: {} },
    final_pages: [{ page_no: 1, score: 0.9, rank: 1 }],
  });
}
