/** SQLite as a peer: FTS5 (porter over unicode61) and sqlite-vec's vec0, which scans, in one file; fused by RRF here. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fuseRrf } from '../../src/compute/ranking/fuse-rrf.ts';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { type BenchData, type BenchQuery, RRF_K, rowBatches, TOP } from '../engine/data-folder.ts';
import { rounded } from '../engine/statistics.ts';
import { importPeer } from './import-peer.ts';

interface Statement {
  run(...values: unknown[]): unknown;
  all(...values: unknown[]): { rowid: number }[];
}
interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
interface Sqlite {
  DatabaseSync: new (path: string, options: { allowExtension: boolean }) => Database;
}

export const name = 'sqlite';
const BATCH = 1000;

export async function open(dir: string, data: BenchData): Promise<BenchEngine> {
  const sqlite: string = 'node:sqlite';
  const { DatabaseSync } = (await import(sqlite)) as Sqlite;
  const vec = await importPeer<{ load(database: Database): void }>('sqlite-vec');
  const path = join(dir, 'chunks.db');
  const database = new DatabaseSync(path, { allowExtension: true });
  vec.load(database);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  database.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, content = '', tokenize = 'porter unicode61')`,
  );
  database.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(vector float[${data.dim}] distance_metric = cosine)`,
  );
  const byText = database.prepare(`SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ${TOP}`);
  const byVector = database.prepare(`SELECT rowid FROM vectors WHERE vector MATCH ? AND k = ${TOP} ORDER BY distance`);

  /** Row numbers begin at 1. */
  const chunksOf = (rows: readonly { rowid: number }[]) => Uint32Array.from(rows, ({ rowid }) => rowid - 1);
  const sparse = ({ words }: BenchQuery) => chunksOf(byText.all(words.join(' OR ')));
  const dense = ({ vector }: BenchQuery) => chunksOf(byVector.all(bytesOf(Float32Array.from(vector))));

  return {
    searches: {
      hybrid: (query) =>
        fuseRrf([sparse(query), dense(query)], RRF_K)
          .slice(0, TOP)
          .map(({ label }) => label),
      sparse,
      dense,
    },
    async build() {
      const began = performance.now();
      const addText = database.prepare('INSERT INTO texts (rowid, text) VALUES (?, ?)');
      const addVector = database.prepare('INSERT INTO vectors (rowid, vector) VALUES (?, ?)');
      for await (const { first, texts, vectors } of rowBatches(data, BATCH)) {
        database.exec('BEGIN');
        texts.forEach((text, i) => {
          const row = BigInt(first + i + 1);
          addText.run(row, text);
          addVector.run(row, bytesOf(vectors.subarray(i * data.dim, (i + 1) * data.dim)));
        });
        database.exec('COMMIT');
      }
      const searchable_s = rounded((performance.now() - began) / 1000);
      database.exec("INSERT INTO texts (texts) VALUES ('optimize')");
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      return { searchable_s, settled_s: rounded((performance.now() - began) / 1000) };
    },
    footprint: async () => ({ file_mb: Math.round((await stat(path)).size / 1e6) }),
    close: async () => database.close(),
  };
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
