/** Databases: `metric_series` no → sample; `metric_snapshots` ts, ms → deflated float64 pairs (series no, value). */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { MetricSeries } from '../domain/admin.ts';
import type { Replay, ReplayedQuery, ReplayReport } from '../domain/evaluation.ts';
import { NumberedRecords, numbered, pairsOf, Records } from './records.ts';

export interface MetricSnapshot {
  ts: number;
  pairs: Float64Array;
}

export class MetricReader extends Records {
  protected readonly known = this.table<MetricSeries, number>('metric_series', numbered);
  protected readonly rows = this.table<Buffer, number>('metric_snapshots', { encoding: 'binary' });

  series(): { no: number; series: MetricSeries }[] {
    return [...this.known.getRange()].map(({ key, value }) => ({ no: key, series: value }));
  }

  lastTime(): number | undefined {
    return [...this.rows.getKeys({ reverse: true, limit: 1 })][0];
  }

  /** Ascending, at most `limit`, from `from` and before `before`. */
  times(from: number, before: number, limit: number): number[] {
    return [...this.rows.getKeys({ start: from, end: before, limit })];
  }

  /** Ascending, at most `limit`. */
  snapshots(from: number, limit: number): MetricSnapshot[] {
    return [...this.rows.getRange({ start: from, limit })].map(({ key, value }) => {
      const bytes = inflateRawSync(value);
      const aligned = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      return { ts: key, pairs: new Float64Array(aligned) };
    });
  }
}

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

/* Replays. Databases: `eval_replays` job no → replay; `eval_replay_results` [job no, place in the plan] → result. */

type StoredResult = { result: ReplayedQuery | null };

export class ReplayReader extends NumberedRecords<Replay> {
  protected readonly rows = this.table<Replay, number>('eval_replays', numbered);
  protected readonly results = this.table<StoredResult, [number, number]>('eval_replay_results');

  /** Newest first. */
  numbers(limit: number): number[] {
    return [...this.rows.getKeys({ reverse: true, limit })];
  }

  /** Results so far, in plan order. */
  resultsOf(jobNo: number): (ReplayedQuery | null)[] {
    return [...this.results.getRange(pairsOf(jobNo))].map(({ value }) => value.result);
  }

  countResults(jobNo: number): number {
    return this.results.getKeysCount(pairsOf(jobNo));
  }
}

export class ReplayTransactor extends ReplayReader {
  put(jobNo: number, replay: Replay): void {
    this.rows.put(jobNo, replay);
  }

  putResults(jobNo: number, from: number, results: readonly (ReplayedQuery | null)[]): void {
    for (const [i, result] of results.entries()) this.results.put([jobNo, from + i], { result });
  }

  finish(jobNo: number, report: ReplayReport): void {
    const replay = this.get(jobNo);
    if (replay === undefined) return;
    this.rows.put(jobNo, { ...replay, plan: null, report });
    this.#removeResults(jobNo);
  }

  remove(jobNo: number): void {
    this.rows.remove(jobNo);
    this.#removeResults(jobNo);
  }

  #removeResults(jobNo: number): void {
    for (const key of [...this.results.getKeys(pairsOf(jobNo))]) this.results.remove(key);
  }
}
