/**
 * Snapshots of the metrics: every value there was at one time, in one row.
 *
 * Databases: `metric_series` no → which sample it is; `metric_snapshots` ts (ms) → deflated float64 pairs (series no, value).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { MetricSeries } from '../domain/metrics.ts';
import type { Environment, Table } from './environment.ts';

export interface MetricSnapshot {
  ts: number;
  /** Series no and value in turn. */
  pairs: Float64Array;
}

export class MetricReader {
  protected readonly known: Table<MetricSeries, number>;
  protected readonly rows: Table<Buffer, number>;

  constructor(environment: Environment) {
    this.known = environment.openDatabase('metric_series', { keyEncoding: 'uint32' });
    this.rows = environment.openDatabase('metric_snapshots', { encoding: 'binary' });
  }

  series(): { no: number; series: MetricSeries }[] {
    return [...this.known.getRange()].map(({ key, value }) => ({ no: key, series: value }));
  }

  /** Times of up to `limit` snapshots from `from` on and before `before`, ascending. */
  times(from: number, before: number, limit: number): number[] {
    return [...this.rows.getKeys({ start: from, end: before, limit })];
  }

  /** Up to `limit` snapshots from `from` on, ascending. */
  snapshots(from: number, limit: number): MetricSnapshot[] {
    return [...this.rows.getRange({ start: from, limit })].map(({ key, value }) => {
      const bytes = inflateRawSync(value);
      const aligned = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      return { ts: key, pairs: new Float64Array(aligned) };
    });
  }
}

/** Writer only: valid inside a transaction. */
export class MetricTransactor extends MetricReader {
  putSeries(no: number, series: MetricSeries): void {
    this.known.put(no, series);
  }

  put({ ts, pairs }: MetricSnapshot): void {
    this.rows.put(ts, deflateRawSync(Buffer.from(pairs.buffer, pairs.byteOffset, pairs.byteLength)));
  }

  remove(ts: number): void {
    this.rows.remove(ts);
  }
}
