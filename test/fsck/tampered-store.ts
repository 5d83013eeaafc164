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

/** What the check says of a fault that a store could have, and how that is made. */
export type Faults = (readonly [finding: RegExp, plant: (tables: Tables) => unknown])[];

export type Tables = ReturnType<typeof tablesOf>;

function tablesOf(root: RootDatabase) {
  const plain = { encoder: { useRecords: false } };
  const table = <Row, StoredKey extends Key>(name: string, options: object = plain) =>
    root.openDB({ name, ...options }) as unknown as Table<Row, StoredKey>;
  const rows = <Row>(name: string) => table<Row, number>(name, { keyEncoding: 'uint32', ...plain });
  return {
    pages: rows<Page>('pages'),
    bodies: table<string, number>('bodies', { keyEncoding: 'uint32', encoding: 'string' }),
    chunks: rows<Chunk[]>('chunks'),
    bodyParts: table<string, [number, number]>('body_parts', { encoding: 'string' }),
    chunkParts: table<Chunk[], [number, number]>('chunk_parts'),
    sections: rows<Section[]>('page_sections'),
    rules: rows<BlacklistRule>('blacklist'),
    rulesByPattern: table<number, Key>('blacklist_by_pattern'),
    vectors: table<Buffer, [number, number]>('vectors', { encoding: 'binary' }),
    jobs: rows<Job>('jobs'),
    byStatus: table<number, Key>('jobs_by_status'),
    due: table<number, Key>('jobs_due'),
    byUrl: table<number, Buffer>('page_by_url', { keyEncoding: 'binary', ...plain }),
    byTitle: table<number, Key>('page_by_title'),
    watches: rows<StoredWatch>('watches'),
    watchByUrl: table<number, Buffer>('watch_by_url', { keyEncoding: 'binary', ...plain }),
    watchByJob: rows<number>('watch_by_job'),
    watchesDue: table<number, [number, number]>('watches_due'),
    watchItems: table<Buffer, [number, string]>('watch_items'),
    counters: table<number, string>('counters'),
    queries: rows<Record<string, unknown>>('query_log'),
    queriesByTime: table<number, Key>('query_log_by_time'),
    queriesById: table<number, Key>('query_log_by_id'),
    feedback: table<boolean, Key>('query_feedback'),
    models: table<EmbeddingModel, string>('models'),
    backfills: rows<Backfill>('backfills'),
    backfillByJob: rows<number>('backfill_by_job'),
    gaps: table<number, [number, number]>('vector_gaps'),
    refused: table<RefusedTexts, [number, number]>('refused_texts'),
    dropped: rows<number>('dropped_spaces'),
    entities: rows<Entity>('entities'),
    pageEntities: rows<PageEntity[]>('page_entities'),
    entityPages: table<number, [number, number]>('entity_pages'),
    entityNames: table<number, Key>('entity_names'),
    merges: rows<EntityMerge>('entity_merges'),
    mergesOfEntity: table<number, [number, number]>('merges_of_entity'),
    splits: table<number, [number, number]>('entity_splits'),
    clusters: rows<Cluster>('clusters'),
    clusterRuns: rows<ClusterRun>('cluster_runs'),
    clusterPoints: table<Buffer, [number, number]>('cluster_points', { encoding: 'binary' }),
    clusterState: table<number, string>('cluster_state'),
  };
}

export async function tamper(dir: string, change: (tables: Tables) => unknown): Promise<void> {
  const root: RootDatabase = open({ path: join(dir, 'store'), maxDbs: 64 });
  const tables = tablesOf(root);
  await root.transaction(() => void change(tables));
  await root.close();
}

export const edit = <Row>(table: Table<Row, number>, no: number, changes: Partial<Row>) =>
  table.put(no, { ...(table.get(no) as Row), ...changes });
