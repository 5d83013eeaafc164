import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Database, type Key, open, type RootDatabase } from 'lmdb';
import { claimJobs } from '../../src/commands/claim-jobs.ts';
import { finishRun, startRun, storeDraft, storePoints } from '../../src/commands/cluster-runs.ts';
import { commitContent } from '../../src/commands/commit-content.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { installModel } from '../../src/commands/install-model.ts';
import { appendRuns, giveFeedback } from '../../src/commands/log-queries.ts';
import { mergeEntities, undoMerge } from '../../src/commands/merge-entities.ts';
import { repairStore } from '../../src/commands/repair-store.ts';
import { completeJob } from '../../src/commands/settle-job.ts';
import type { Cluster, ClusterRun } from '../../src/domain/cluster.ts';
import type { Entity, EntityMerge, PageEntity } from '../../src/domain/entity.ts';
import { idOf } from '../../src/domain/ids.ts';
import type { Job } from '../../src/domain/job.ts';
import type { Backfill, EmbeddingModel, RefusedTexts } from '../../src/domain/model.ts';
import type { Chunk, Page } from '../../src/domain/page.ts';
import type { QueryRun } from '../../src/domain/query-log.ts';
import { checkFolder, isClean } from '../../src/fsck/check-folder.ts';
import { firstBackfill } from '../../src/machines/backfill.ts';
import { Store } from '../../src/store/store.ts';
import { mentioning } from '../commands/mentioning.ts';

const dim = 4;
const free = { suspect: 1, index: 100, fetch: 1, poll: 1, purge: 0, background: 1, backfill: 1, entities: 1 };

/** A folder with three indexed pages of two chunks each, written by the service's own commands; no index files. */
async function makeFolder(dir: string): Promise<void> {
  const store = Store.open(dir, () => 'store-1');
  await store.commit(
    installModel(
      { id: 'm', provider: 'local', model_name: 'm', dim, max_input_tokens: 9, floor: null },
      { at: 0, max_attempts: 1 },
    ),
  );
  for (const name of ['a', 'b', 'c']) {
    const submission = {
      canonical_url: `https://${name}.example/`,
      original_url: `https://${name}.example/`,
      domain: `${name}.example`,
      title: `Title ${name}`,
      body: 'first half. second half.',
      content_hash: name,
      sections: [],
      source: null,
      metadata: null,
      seen_at: 1,
      at: 1,
      max_attempts: 5,
    };
    await store.commit(ingestPage(submission));
  }
  const claimed = await store.commit(claimJobs({ at: 2, incarnation: 'i', leaseMs: 1000, free, running: 0 }));
  for (const job of claimed.jobs) {
    const attempt = { job_no: job.no, claim: job.claim };
    const chunk = { token_count: 2, section_title: null, section_start_s: null };
    const chunks = [
      { char_start: 0, char_end: 11, ...chunk },
      { char_start: 12, char_end: 24, ...chunk },
    ];
    const vectors = new Map([[1, new Float32Array(2 * dim).fill(0.5)]]);
    await store.commit(commitContent(attempt, { page_no: job.page_no ?? 0, chunks, vectors }));
    await store.commit(completeJob(attempt, 3));
  }
  await addEntities(store);
  await addClusters(store);
  await store.commit(appendRuns([loggedRun('q1', null), loggedRun('q2', 'c1')]));
  await store.commit(giveFeedback({ query_id: 'q1', page_id: idOf('page', 1), relevant: true }));
  await store.close();
}

/** Made once: the commits of one folder are many waits for the disk. */
const template = mkdtempSync(join(tmpdir(), 'readback-fsck-'));
before(() => makeFolder(template));
after(() => rmSync(template, { recursive: true, force: true }));

function copiedFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'readback-fsck-'));
  cpSync(template, dir, { recursive: true });
  return dir;
}

/** Entities 1 Acme over 3 Acme Corp, 2 Oslo, and 4 Bergen beside 5 Bergen City, whose merge was undone. */
async function addEntities(store: Store): Promise<void> {
  await store.commit(mentioning(1, 'organization: Acme', 'organization: ACME', 'place: Oslo'));
  await store.commit(mentioning(2, 'organization: Acme Corp', 'place: Oslo'));
  await store.commit(mentioning(3, 'place: Bergen', 'place: Bergen City'));
  const [, undone] = [await store.commit(mergeEntities(1, 3, 4)), await store.commit(mergeEntities(4, 5, 4))];
  await store.commit(undoMerge(undone?.no ?? 0, 5));
}

/** Two runs: in the first pages 1 and 2 are in cluster 1 and page 3 in cluster 2, in the second page 3 is in cluster 3. */
async function addClusters(store: Store): Promise<void> {
  for (const [round, third] of [2, 3].entries()) {
    const begun = await store.commit(startRun({ trigger: 'manual', params: {}, at: 6, max_attempts: 5 }));
    const claim = { at: 7, incarnation: 'i', leaseMs: 1000, free, running: 0 };
    const job = (await store.commit(claimJobs(claim))).jobs.find(({ kind }) => kind === 'cluster');
    const attempt = { job_no: job?.no ?? 0, claim: job?.claim ?? 0 };
    const point = { probability: 1, x: 1, y: 2, since: false };
    const points = [1, 1, third].map((cluster_no, at) => ({ page_no: at + 1, cluster_no, ...point }));
    const drafts = [
      { no: 1, size: 2, x: 1, y: 2 },
      { no: third, size: 1, x: 1, y: 2 },
    ];
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
  return {
    query_id,
    ts: 5,
    kind: compare_id === null ? 'search' : 'compare_arm',
    compare_id,
    query_text: 'half',
    params: {},
    active_model: 'm',
    reranker_model: null,
    candidate_set: hits,
    dense_hits: hits,
    sparse_hits: hits,
    final_pages: [{ page_no: 1, score: 0.9, rank: 1 }],
    timing_ms: {},
  };
}

function refusal(ordinal: number): RefusedTexts {
  return { ordinals: [ordinal], reason: 'provider p: answered 400', at: 3 };
}

interface Tables {
  pages: Database<Page, number>;
  bodies: Database<string, number>;
  chunks: Database<Chunk[], number>;
  vectors: Database<Buffer, [number, number]>;
  jobs: Database<Job, number>;
  byStatus: Database<number, Key>;
  due: Database<number, Key>;
  byUrl: Database<number, Buffer>;
  byTitle: Database<number, Key>;
  counters: Database<number, string>;
  queries: Database<Record<string, unknown>, number>;
  queriesByTime: Database<number, Key>;
  queriesById: Database<number, Key>;
  feedback: Database<boolean, Key>;
  models: Database<EmbeddingModel, string>;
  backfills: Database<Backfill, number>;
  backfillByJob: Database<number, number>;
  gaps: Database<number, [number, number]>;
  refused: Database<RefusedTexts, [number, number]>;
  dropped: Database<number, number>;
  entities: Database<Entity, number>;
  pageEntities: Database<PageEntity[], number>;
  entityPages: Database<number, [number, number]>;
  entityNames: Database<number, Key>;
  merges: Database<EntityMerge, number>;
  mergesOfEntity: Database<number, [number, number]>;
  splits: Database<number, [number, number]>;
  clusters: Database<Cluster, number>;
  clusterRuns: Database<ClusterRun, number>;
  clusterPoints: Database<Buffer, [number, number]>;
  clusterState: Database<number, string>;
}

async function tamper(dir: string, change: (tables: Tables) => unknown): Promise<void> {
  const root: RootDatabase = open({ path: join(dir, 'store'), maxDbs: 64 });
  const plain = { encoder: { useRecords: false } };
  await change({
    pages: root.openDB({ name: 'pages', keyEncoding: 'uint32', ...plain }),
    bodies: root.openDB({ name: 'bodies', keyEncoding: 'uint32', encoding: 'string' }),
    chunks: root.openDB({ name: 'chunks', keyEncoding: 'uint32', ...plain }),
    vectors: root.openDB({ name: 'vectors', encoding: 'binary' }),
    jobs: root.openDB({ name: 'jobs', keyEncoding: 'uint32', ...plain }),
    byStatus: root.openDB({ name: 'jobs_by_status', ...plain }),
    due: root.openDB({ name: 'jobs_due', ...plain }),
    byUrl: root.openDB({ name: 'page_by_url', keyEncoding: 'binary', ...plain }),
    byTitle: root.openDB({ name: 'page_by_title', ...plain }),
    counters: root.openDB({ name: 'counters', ...plain }),
    queries: root.openDB({ name: 'query_log', keyEncoding: 'uint32', ...plain }),
    queriesByTime: root.openDB({ name: 'query_log_by_time', ...plain }),
    queriesById: root.openDB({ name: 'query_log_by_id', ...plain }),
    feedback: root.openDB({ name: 'query_feedback', ...plain }),
    models: root.openDB({ name: 'models', ...plain }),
    backfills: root.openDB({ name: 'backfills', keyEncoding: 'uint32', ...plain }),
    backfillByJob: root.openDB({ name: 'backfill_by_job', keyEncoding: 'uint32', ...plain }),
    gaps: root.openDB({ name: 'vector_gaps', ...plain }),
    refused: root.openDB({ name: 'refused_texts', ...plain }),
    dropped: root.openDB({ name: 'dropped_spaces', keyEncoding: 'uint32', ...plain }),
    entities: root.openDB({ name: 'entities', keyEncoding: 'uint32', ...plain }),
    pageEntities: root.openDB({ name: 'page_entities', keyEncoding: 'uint32', ...plain }),
    entityPages: root.openDB({ name: 'entity_pages', ...plain }),
    entityNames: root.openDB({ name: 'entity_names', ...plain }),
    merges: root.openDB({ name: 'entity_merges', keyEncoding: 'uint32', ...plain }),
    mergesOfEntity: root.openDB({ name: 'merges_of_entity', ...plain }),
    splits: root.openDB({ name: 'entity_splits', ...plain }),
    clusters: root.openDB({ name: 'clusters', keyEncoding: 'uint32', ...plain }),
    clusterRuns: root.openDB({ name: 'cluster_runs', keyEncoding: 'uint32', ...plain }),
    clusterPoints: root.openDB({ name: 'cluster_points', encoding: 'binary' }),
    clusterState: root.openDB({ name: 'cluster_state', ...plain }),
  } as unknown as Tables);
  await root.close();
}

const edit = <Row>(table: Database<Row, number>, no: number, changes: Partial<Row>) =>
  table.put(no, { ...(table.get(no) as Row), ...changes });

const backfillOf = (space: number, model: string, changes: Partial<Backfill> = {}): Backfill => ({
  ...firstBackfill({ id: model, space }, { at: 1, job_no: 1, lastPage: 3 }),
  ...{ cursor: 3, status: 'complete', ...changes },
});

/** Faults that a store could have, and what the check says of each. */
const faults: Record<string, { plant: (tables: Tables) => unknown; finding: RegExp }> = {
  'a URL that leads nowhere': {
    plant: ({ byUrl }) => byUrl.remove([...byUrl.getKeys()][0]),
    finding: /its URL leads to no page/,
  },
  'a title that leads nowhere': {
    plant: ({ byTitle }) => byTitle.remove([...byTitle.getKeys()][0]),
    finding: /its title does not lead to it/,
  },
  'a job missing from the list of its status': {
    plant: ({ byStatus }) => byStatus.remove(['done', 1]),
    finding: /jobs by status: .* is missing/,
  },
  'a due entry of no job': {
    plant: ({ due }) => due.put(['index', 5, 99], 0),
    finding: /due jobs: .* is of no row/,
  },
  'chunks of no page': { plant: ({ chunks }) => chunks.put(77, []), finding: /chunks of no page: 77/ },
  'a text of no page': { plant: ({ bodies }) => bodies.put(77, 'x'), finding: /text of no page: 77/ },
  'vectors of no page': {
    plant: ({ vectors }) => vectors.put([1, 77], Buffer.alloc(16, 1)),
    finding: /vectors of m of no page: 77/,
  },
  'fewer chunks than the page counts': {
    plant: ({ chunks }) => chunks.put(2, (chunks.get(2) ?? []).slice(1)),
    finding: /page 2 has 1 chunks and counts 2/,
  },
  'a chunk outside its text': {
    plant: ({ chunks }) =>
      chunks.put(
        2,
        (chunks.get(2) ?? []).map((chunk) => ({ ...chunk, char_end: 999 })),
      ),
    finding: /page 2 has a chunk outside its text/,
  },
  'vectors that are missing': {
    plant: ({ vectors }) => vectors.remove([1, 2]),
    finding: /page 2 has 0 vectors of m for 2 chunks/,
  },
  'vectors of another length': {
    plant: ({ vectors }) => vectors.put([1, 2], Buffer.alloc(dim * 4 * 3, 1)),
    finding: /page 2 has 3 vectors of m for 2 chunks/,
  },
  'a label that two pages have': {
    plant: ({ pages }) => edit(pages, 2, { first_label: 1 }),
    finding: /label 1 belongs to pages 1 and 2/,
  },
  'a label that was not given yet': {
    plant: ({ counters }) => counters.put('label', 4),
    finding: /label \d was not given yet/,
  },
  'a page without its job': {
    plant: ({ pages }) => edit(pages, 3, { index_job: 99 }),
    finding: /page 3 has no index job/,
  },
  'a status that is not its job’s': {
    plant: ({ pages }) => edit(pages, 3, { status: 'failed' }),
    finding: /page 3 is failed and its index job 3 is done/,
  },
  'an indexed page without text': {
    plant: ({ bodies }) => bodies.remove(3),
    finding: /page 3 has (no text|a chunk outside)/,
  },
  'a query missing from the list by time': {
    plant: ({ queriesByTime }) => queriesByTime.remove(['search', 5, 1]),
    finding: /queries by time: .* is missing/,
  },
  'an id of no query': {
    plant: ({ queriesById }) => queriesById.put(['q9', 9], 0),
    finding: /queries by id: .* is of no row/,
  },
  'a query whose hits are cut off': {
    plant: ({ queries }) => edit(queries, 2, { dense_hits: Buffer.alloc(17) }),
    finding: /query 2: its hits cannot be read/,
  },
  'a query that found a page which never was': {
    plant: ({ queries }) => edit(queries, 2, { sparse_hits: Buffer.alloc(16, 1) }),
    finding: /query 2 found a page whose number was not given yet/,
  },
  'feedback on no query': {
    plant: ({ feedback }) => feedback.put([9, 1], true),
    finding: /feedback on no query: 9/,
  },
  'vectors of a page without chunks': {
    plant: ({ pages, chunks }) => [edit(pages, 2, { chunk_count: 0 }), chunks.put(2, [])],
    finding: /page 2 has 2 vectors of m for 0 chunks/,
  },
  'vectors of no model': {
    plant: ({ vectors }) => vectors.put([9, 1], Buffer.alloc(16, 1)),
    finding: /vectors of no model: space 9/,
  },
  'a refused text that has a vector': {
    plant: ({ refused }) => refused.put([1, 2], refusal(0)),
    finding: /page 2 has vectors of m for refused texts/,
  },
  'a refused text that is no chunk': {
    plant: ({ refused }) => refused.put([1, 2], refusal(7)),
    finding: /page 2 has vectors of m for refused texts, or none at all/,
  },
  'a refused text of no model': {
    plant: ({ refused }) => refused.put([9, 1], refusal(0)),
    finding: /refused texts of no model: space 9/,
  },
  'a gap of no page': { plant: ({ gaps }) => gaps.put([1, 77], 0), finding: /gap of no page: 77/ },
  'a gap of no model': { plant: ({ gaps }) => gaps.put([9, 1], 0), finding: /gap of no model: page 1 in space 9/ },
  'a gap of a page that has its vectors': {
    plant: ({ gaps }) => gaps.put([1, 2], 0),
    finding: /page 2 has vectors of m, and a gap/,
  },
  'a gap that nobody is going to fill': {
    plant: ({ vectors, gaps, backfills, backfillByJob }) => [
      ...[vectors.remove([1, 2]), gaps.put([1, 2], 0)],
      ...[backfills.put(1, backfillOf(1, 'm')), backfillByJob.put(1, 1)],
    ],
    finding: /page 2 has a gap that no backfill of m is going to fill/,
  },
  'a backfill of no model': {
    plant: ({ backfills, backfillByJob }) => [backfills.put(9, backfillOf(9, 'gone')), backfillByJob.put(1, 9)],
    finding: /backfill of no model: gone/,
  },
  'a backfill that its job does not lead to': {
    plant: ({ backfills }) => backfills.put(1, backfillOf(1, 'm')),
    finding: /the backfill of m is not found by its job/,
  },
  'a backfill that runs without a job': {
    plant: ({ backfills, backfillByJob }) => [
      ...[backfills.put(1, backfillOf(1, 'm', { status: 'running', job_no: 99 })), backfillByJob.put(99, 1)],
    ],
    finding: /the backfill of m runs without a job/,
  },
  'a model that is filled by no backfill': {
    plant: ({ models }) => models.put('m', { ...(models.get('m') as EmbeddingModel), status: 'backfilling' }),
    finding: /m is filled by no backfill/,
  },
  'a model’s space among those to be emptied': {
    plant: ({ dropped }) => dropped.put(1, 0),
    finding: /the space of m is noted as one to be emptied/,
  },
  'mentions of no page': {
    plant: ({ pageEntities }) => pageEntities.put(77, pageEntities.get(1) ?? []),
    finding: /entities of no page: 77/,
  },
  'a mention of an entity that is not there': {
    plant: ({ entities }) => entities.remove(2),
    finding: /page 1 mentions entity 2, which is not there/,
  },
  'an entity that a page lists twice': {
    plant: ({ pageEntities }) => pageEntities.put(3, [...(pageEntities.get(3) ?? []), ...(pageEntities.get(3) ?? [])]),
    finding: /page 3 lists 2 of its entities twice/,
  },
  'an entity that no page mentions': {
    plant: ({ pageEntities }) => pageEntities.remove(3),
    finding: /entity 4 is mentioned by no page/,
  },
  'an entity job that is another page’s': {
    plant: ({ pages }) => edit(pages, 1, { entity_job: 2 }),
    finding: /page 1: its entity job 2 is not there, or another page's/,
  },
  'a page that was read and has nothing of it': {
    plant: ({ pages, pageEntities }) => [edit(pages, 3, { entity_job: 3 }), pageEntities.remove(3)],
    finding: /page 3 was read for entities, and what it mentions is not there/,
  },
  'spellings that the mentions do not have': {
    plant: ({ entities }) => edit(entities, 1, { forms: [['Acme', 9]] }),
    finding: /entity 1 has other spellings than its mentions/,
  },
  'a wrong number of pages of an entity': {
    plant: ({ entities }) => edit(entities, 2, { page_count: 7 }),
    finding: /entity 2 counts 7 pages, and 2 mention it/,
  },
  'a wrong number of pages of all below an entity': {
    plant: ({ entities }) => edit(entities, 1, { tree_pages: 1 }),
    finding: /entity 1 counts 1 pages with all below it, and there are 2/,
  },
  'an entity below another by no merge': {
    plant: ({ entities }) => edit(entities, 5, { parent: 4 }),
    finding: /entity 5 is below 4, and by the merges below none/,
  },
  'a merge that the rows do not follow': {
    plant: ({ entities }) => edit(entities, 3, { parent: 0 }),
    finding: /merge 1 stands, and 3 is not below 1/,
  },
  'children that the merges do not know': {
    plant: ({ entities }) => edit(entities, 1, { children: [] }),
    finding: /entity 1 stands for others than the merges say/,
  },
  'a merge of an entity that is not there': {
    plant: ({ merges, mergesOfEntity }) => [
      merges.put(9, { ...(merges.get(1) as EntityMerge), no: 9, merged: 88 }),
      ...[1, 88].map((side) => mergesOfEntity.put([side, 9], 0)),
    ],
    finding: /merge 9 is of entity 88, which is not there/,
  },
  'a merge that its entity does not lead to': {
    plant: ({ mergesOfEntity }) => mergesOfEntity.remove([3, 1]),
    finding: /merges by entity: 3 1 is missing/,
  },
  'entities kept apart by no undone merge': {
    plant: ({ splits }) => splits.put([1, 2], 0),
    finding: /entities 1 and 2 are kept apart, and no merge of them was undone/,
  },
  'an undone merge that is not kept apart': {
    plant: ({ splits }) => splits.remove([4, 5]),
    finding: /entities 4 5: their merge was undone, and they are not kept apart/,
  },
  'two entities of one type and name': {
    plant: ({ entities, pageEntities, counters }) => [
      entities.put(6, { ...(entities.get(2) as Entity), no: 6, page_count: 1 }),
      pageEntities.put(3, [...(pageEntities.get(3) ?? []), { no: 6, forms: [['Oslo', [0, 4]]] }]),
      counters.put('entity', 7),
    ],
    finding: /entities 2 and 6 are of one type and name/,
  },
  'an entity that its name does not lead to': {
    plant: ({ entityNames }) => entityNames.remove([...entityNames.getKeys()][0]),
    finding: /names of entities: 1 of \d+ are missing/,
  },
  'a page that its entity does not lead to': {
    plant: ({ entityPages }) => entityPages.remove([2, 1]),
    finding: /pages by entity: 1 of \d+ are missing/,
  },
  'an entity that leads to a page without it': {
    plant: ({ entityPages }) => entityPages.put([2, 3], 0),
    finding: /pages by entity: page 3 does not mention entity 2/,
  },
  'an entity whose number was not given yet': {
    plant: ({ counters }) => counters.put('entity', 2),
    finding: /entity \d has a number that was not given yet/,
  },
  'a merge whose number was not given yet': {
    plant: ({ counters }) => counters.put('merge', 1),
    finding: /merge \d has a number that was not given yet/,
  },
  'a wrong size of a cluster': {
    plant: ({ clusters }) => edit(clusters, 1, { size: 9 }),
    finding: /cluster 1 counts 9 pages, and has 2/,
  },
  'a cluster that is gone and has pages': {
    plant: ({ clusters }) => edit(clusters, 1, { tombstoned: true }),
    finding: /cluster 1 is gone, and has 2 pages/,
  },
  'a tombstone with a place on the map': {
    plant: ({ clusters }) => edit(clusters, 2, { x: 1, y: 1 }),
    finding: /cluster 2 is gone, and has a place on the map/,
  },
  'a cluster without pages that is not gone': {
    plant: ({ clusters }) => edit(clusters, 2, { tombstoned: false }),
    finding: /cluster 2 has no page, and is not gone/,
  },
  'pages of a cluster that is not there': {
    plant: ({ clusters }) => clusters.remove(1),
    finding: /run 2 has points of no cluster: 1/,
  },
  'a tombstone that is not there': {
    plant: ({ clusters }) => clusters.remove(2),
    finding: /run 1 has points of no cluster: 2/,
  },
  'a point of a page that is not there': {
    plant: ({ clusterPoints }) => {
      const block = Buffer.from(clusterPoints.get([2, 0]) ?? []);
      block.copyWithin(77 * 16, 16, 32); // page 77 where page 1 is
      return clusterPoints.put([2, 0], block);
    },
    finding: /run 2 has a point of no page: 77/,
  },
  'points of no run': {
    plant: ({ clusterPoints }) => clusterPoints.put([9, 0], clusterPoints.get([2, 0]) ?? Buffer.alloc(0)),
    finding: /points of no run: 9/,
  },
  'a run that counts and is not there': {
    plant: ({ clusterState }) => clusterState.put('current', 9),
    finding: /run 9 counts, and is not over or not there/,
  },
  'a run that is over and has a draft': {
    plant: ({ clusterRuns }) => edit(clusterRuns, 2, { draft: [] }),
    finding: /run 2 is over and has a draft/,
  },
  'a run that nobody works at': {
    plant: ({ clusterRuns }) => edit(clusterRuns, 1, { finished_at: null }),
    finding: /run 1 is not over and has no job/,
  },
  'a run whose number was not given yet': {
    plant: ({ counters }) => counters.put('cluster_run', 2),
    finding: /run 2 has a number that was not given yet/,
  },
  'a cluster whose number was not given yet': {
    plant: ({ counters }) => counters.put('cluster', 2),
    finding: /cluster \d has a number that was not given yet/,
  },
  'a query whose number was not given yet': {
    plant: ({ counters }) => counters.put('query', 1),
    finding: /query \d has a number that was not given yet/,
  },
};

for (const [name, { plant, finding }] of Object.entries(faults)) {
  test(`the check finds ${name}, and the repair mends it`, async () => {
    const dir = copiedFolder();
    try {
      const before = await checkFolder(dir);
      assert.deepEqual(
        { ...before, missing: 0 },
        { pages: 3, chunks: 6, store: [], index: [], waiting: 0, refused: 0, missing: 0, obsolete: 0 },
      );
      await tamper(dir, plant);
      const found = await checkFolder(dir);
      assert.ok(
        found.store.some((line) => finding.test(line)),
        `found: ${JSON.stringify(found.store)}`,
      );
      assert.equal(isClean(found), false);
      const store = Store.open(dir, () => 'never');
      await store.commit(repairStore({ at: 9, max_attempts: 5 }));
      await store.close();
      assert.deepEqual((await checkFolder(dir)).store, []);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

test('a gap that a backfill is to fill waits, and what is left of a deleted model is no fault', async () => {
  const dir = copiedFolder();
  try {
    await tamper(dir, ({ models, vectors, gaps, backfills, backfillByJob, dropped }) => {
      models.put('n', { ...(models.get('m') as EmbeddingModel), id: 'n', space: 2 });
      for (const no of [1, 3]) vectors.put([2, no], Buffer.alloc(2 * dim * 4, 1));
      gaps.put([2, 2], 0);
      backfills.put(2, backfillOf(2, 'n', { status: 'failed', job_no: 3 }));
      backfillByJob.put(3, 2);
      dropped.put(9, 0);
      gaps.put([9, 1], 0);
      return vectors.put([9, 1], Buffer.alloc(16, 1));
    });
    const report = await checkFolder(dir);
    assert.deepEqual([report.store, report.waiting, isClean(report)], [[], 1, true]);
    const store = Store.open(dir, () => 'never');
    const repairs = await store.commit(repairStore({ at: 9, max_attempts: 5 }));
    await store.close();
    assert.deepEqual([repairs.pages_requeued, repairs.orphans_dropped], [0, 0]);
    assert.equal((await checkFolder(dir)).waiting, 1);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('a refused text is counted and is no fault, nor is one of a deleted model', async () => {
  const dir = copiedFolder();
  try {
    await tamper(dir, ({ vectors, refused, dropped }) => {
      const rows = new Float32Array(2 * dim).fill(0.5).fill(0, dim);
      vectors.put([1, 2], Buffer.from(rows.buffer));
      refused.put([1, 2], refusal(1));
      dropped.put(9, 0);
      return refused.put([9, 1], refusal(0));
    });
    const store = Store.open(dir, () => 'never');
    const repairs = await store.commit(repairStore({ at: 9, max_attempts: 5 }));
    await store.close();
    assert.deepEqual([repairs.pages_requeued, repairs.orphans_dropped], [0, 0]);
    const report = await checkFolder(dir);
    assert.deepEqual([report.store, report.refused, isClean(report)], [[], 2, true]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('repairing a sound store changes nothing', async () => {
  const dir = copiedFolder();
  try {
    const store = Store.open(dir, () => 'never');
    const repairs = await store.commit(repairStore({ at: 9, max_attempts: 5 }));
    await store.close();
    assert.deepEqual(repairs, {
      ...{ orphans_dropped: 0, pages_requeued: 0, queries_dropped: 0 },
      ...{ entities_repaired: 0, clusters_repaired: 0 },
    });
    assert.equal(isClean(await checkFolder(dir)), true);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
