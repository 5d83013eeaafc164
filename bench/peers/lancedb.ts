/**
 * LanceDB as a peer: one table with a full-text index (stemming, as it comes otherwise), an HNSW-SQ index over cosine and a
 * B-tree over the filter's column; hybrid queries are fused by its own RRF. Everything runs in its native library's threads.
 */
import { join } from 'node:path';
import { bucketOf, bucketsOf } from '../engine/allowed.ts';
import type { BenchEngine, Search } from '../engine/bench-engine.ts';
import { type BenchData, type BenchQuery, RRF_K, rowBatches, TOP } from '../engine/data-folder.ts';
import { rounded } from '../engine/statistics.ts';
import { importPeer } from './import-peer.ts';

interface ArrowTable {
  getChild(column: string): { toArray(): ArrayLike<number> } | null;
}
interface Query {
  fullTextSearch(text: string): Query;
  nearestTo(vector: Float32Array): Query;
  distanceType(type: 'cosine'): Query;
  rerank(reranker: unknown): Query;
  where(predicate: string): Query;
  select(columns: string[]): Query;
  limit(count: number): Query;
  toArrow(): Promise<ArrowTable>;
}
interface Table {
  add(rows: unknown): Promise<unknown>;
  createIndex(column: string, options: { config: unknown }): Promise<void>;
  waitForIndex(names: string[], timeoutS: number): Promise<void>;
  query(): Query;
  close(): void;
}
interface Connection {
  tableNames(): Promise<string[]>;
  openTable(name: string): Promise<Table>;
  createTable(name: string, rows: unknown): Promise<Table>;
}
interface LanceDb {
  connect(dir: string): Promise<Connection>;
  Index: { fts(options: object): unknown; hnswSq(options: object): unknown; btree(): unknown };
  rerankers: { RRFReranker: { create(k: number): Promise<unknown> } };
}
interface Arrow {
  Float32: new () => unknown;
  Utf8: new () => unknown;
  Field: new (name: string, type: unknown, nullable: boolean) => unknown;
  FixedSizeList: new (size: number, child: unknown) => unknown;
  Table: new (columns: Record<string, unknown>) => unknown;
  makeData(options: object): unknown;
  makeVector(data: unknown): unknown;
  vectorFromArray(values: readonly string[], type: unknown): unknown;
}

export const name = 'lancedb';
const BATCH = 10_000;
const INDEX_TIMEOUT_S = 3600;

export async function open(dir: string, data: BenchData): Promise<BenchEngine> {
  const lancedb = await importPeer<LanceDb>('@lancedb/lancedb');
  const arrow = await importPeer<Arrow>('apache-arrow');
  const connection = await lancedb.connect(join(dir, 'lance'));
  const reranker = await lancedb.rerankers.RRFReranker.create(RRF_K);
  let table = (await connection.tableNames()).includes('chunks') ? await connection.openTable('chunks') : undefined;

  function rowsOf(first: number, texts: readonly string[], vectors: Float32Array): unknown {
    const item = new arrow.Field('item', new arrow.Float32(), true);
    const child = arrow.makeData({ type: new arrow.Float32(), data: vectors });
    const type = new arrow.FixedSizeList(data.dim, item);
    return new arrow.Table({
      id: arrow.makeVector(Int32Array.from(texts, (_, i) => first + i)),
      bucket: arrow.makeVector(Int32Array.from(texts, (_, i) => bucketOf(first + i))),
      text: arrow.vectorFromArray(texts, new arrow.Utf8()),
      vector: arrow.makeVector(arrow.makeData({ type, length: texts.length, nullCount: 0, child })),
    });
  }

  const run = async (query: Query, share?: number): Promise<ArrayLike<number>> => {
    const asked = share === undefined ? query : query.where(`bucket < ${bucketsOf(share)}`);
    const found = await asked.select(['id']).limit(TOP).toArrow();
    return found.getChild('id')?.toArray() ?? [];
  };
  const opened = (): Table => {
    if (table === undefined) throw new Error('the table is not built yet');
    return table;
  };
  const near = ({ vector }: BenchQuery) => opened().query().nearestTo(Float32Array.from(vector)).distanceType('cosine');
  const searches = (share?: number): Record<'hybrid' | 'sparse' | 'dense', Search> => ({
    hybrid: (query) => run(near(query).fullTextSearch(query.text).rerank(reranker), share),
    sparse: (query) => run(opened().query().fullTextSearch(query.text), share),
    dense: (query) => run(near(query), share),
  });

  return {
    searches: searches(),
    filtered: searches,
    async build() {
      const began = performance.now();
      const since = () => rounded((performance.now() - began) / 1000);
      for await (const { first, texts, vectors } of rowBatches(data, BATCH)) {
        const rows = rowsOf(first, texts, vectors);
        if (table === undefined) table = await connection.createTable('chunks', rows);
        else await table.add(rows);
      }
      const stored_s = since();
      const built = opened();
      await built.createIndex('text', { config: lancedb.Index.fts({ stem: true }) });
      const text_s = since();
      await built.createIndex('vector', { config: lancedb.Index.hnswSq({ distanceType: 'cosine' }) });
      const vector_s = since();
      await built.createIndex('bucket', { config: lancedb.Index.btree() });
      await built.waitForIndex(['text_idx', 'vector_idx', 'bucket_idx'], INDEX_TIMEOUT_S);
      const done = since();
      return { searchable_s: vector_s, settled_s: done, stored_s, text_s: rounded(text_s - stored_s) };
    },
    footprint: async () => ({}),
    close: async () => table?.close(),
  };
}
