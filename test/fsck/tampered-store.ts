/** The databases of a store as they are on the disk, to plant faults in that the service never makes. */
import { join } from 'node:path';
import { type Key, open, type RootDatabase } from 'lmdb';
import type { Cluster, ClusterRun } from '../../src/domain/cluster.ts';
import type { Entity, EntityMerge, PageEntity } from '../../src/domain/entity.ts';
import type { Job } from '../../src/domain/job.ts';
import type { Backfill, EmbeddingModel, RefusedTexts } from '../../src/domain/model.ts';
import type { Chunk, Page, Section } from '../../src/domain/page.ts';
import type { BlacklistRule } from '../../src/store/blacklist.ts';
import type { Table } from '../../src/store/environment.ts';
import type { StoredWatch } from '../../src/store/watches.ts';

/** By its name: a fault that a store could have, and what the check says of it. */
export type Faults = Record<string, { plant: (tables: Tables) => unknown; finding: RegExp }>;

export interface Tables {
  pages: Table<Page, number>;
  bodies: Table<string, number>;
  chunks: Table<Chunk[], number>;
  bodyParts: Table<string, [number, number]>;
  chunkParts: Table<Chunk[], [number, number]>;
  sections: Table<Section[], number>;
  rules: Table<BlacklistRule, number>;
  rulesByPattern: Table<number, Key>;
  vectors: Table<Buffer, [number, number]>;
  jobs: Table<Job, number>;
  byStatus: Table<number, Key>;
  due: Table<number, Key>;
  byUrl: Table<number, Buffer>;
  byTitle: Table<number, Key>;
  watches: Table<StoredWatch, number>;
  watchByUrl: Table<number, Buffer>;
  watchByJob: Table<number, number>;
  watchesDue: Table<number, [number, number]>;
  watchItems: Table<Buffer, [number, string]>;
  counters: Table<number, string>;
  queries: Table<Record<string, unknown>, number>;
  queriesByTime: Table<number, Key>;
  queriesById: Table<number, Key>;
  feedback: Table<boolean, Key>;
  models: Table<EmbeddingModel, string>;
  backfills: Table<Backfill, number>;
  backfillByJob: Table<number, number>;
  gaps: Table<number, [number, number]>;
  refused: Table<RefusedTexts, [number, number]>;
  dropped: Table<number, number>;
  entities: Table<Entity, number>;
  pageEntities: Table<PageEntity[], number>;
  entityPages: Table<number, [number, number]>;
  entityNames: Table<number, Key>;
  merges: Table<EntityMerge, number>;
  mergesOfEntity: Table<number, [number, number]>;
  splits: Table<number, [number, number]>;
  clusters: Table<Cluster, number>;
  clusterRuns: Table<ClusterRun, number>;
  clusterPoints: Table<Buffer, [number, number]>;
  clusterState: Table<number, string>;
}

export async function tamper(dir: string, change: (tables: Tables) => unknown): Promise<void> {
  const root: RootDatabase = open({ path: join(dir, 'store'), maxDbs: 64 });
  const plain = { encoder: { useRecords: false } };
  const tables = {
    pages: root.openDB({ name: 'pages', keyEncoding: 'uint32', ...plain }),
    bodies: root.openDB({ name: 'bodies', keyEncoding: 'uint32', encoding: 'string' }),
    chunks: root.openDB({ name: 'chunks', keyEncoding: 'uint32', ...plain }),
    bodyParts: root.openDB({ name: 'body_parts', encoding: 'string' }),
    chunkParts: root.openDB({ name: 'chunk_parts', ...plain }),
    sections: root.openDB({ name: 'page_sections', keyEncoding: 'uint32', ...plain }),
    rules: root.openDB({ name: 'blacklist', keyEncoding: 'uint32', ...plain }),
    rulesByPattern: root.openDB({ name: 'blacklist_by_pattern', ...plain }),
    vectors: root.openDB({ name: 'vectors', encoding: 'binary' }),
    jobs: root.openDB({ name: 'jobs', keyEncoding: 'uint32', ...plain }),
    byStatus: root.openDB({ name: 'jobs_by_status', ...plain }),
    due: root.openDB({ name: 'jobs_due', ...plain }),
    byUrl: root.openDB({ name: 'page_by_url', keyEncoding: 'binary', ...plain }),
    byTitle: root.openDB({ name: 'page_by_title', ...plain }),
    watches: root.openDB({ name: 'watches', keyEncoding: 'uint32', ...plain }),
    watchByUrl: root.openDB({ name: 'watch_by_url', keyEncoding: 'binary', ...plain }),
    watchByJob: root.openDB({ name: 'watch_by_job', keyEncoding: 'uint32', ...plain }),
    watchesDue: root.openDB({ name: 'watches_due', ...plain }),
    watchItems: root.openDB({ name: 'watch_items', ...plain }),
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
  } as unknown as Tables;
  await root.transaction(() => void change(tables));
  await root.close();
}

export const edit = <Row>(table: Table<Row, number>, no: number, changes: Partial<Row>) =>
  table.put(no, { ...(table.get(no) as Row), ...changes });
