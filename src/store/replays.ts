/**
 * Replays of logged queries: what was asked for, how far it is, and the report. Databases: `eval_replays` job no → replay;
 * `eval_replay_results` [job no, place in the plan] → what the query came to, so that a checkpoint writes only what is new.
 */
import type { Replay, ReplayedQuery, ReplayReport } from '../domain/evaluation.ts';
import type { Environment, Table } from './environment.ts';

type StoredResult = { result: ReplayedQuery | null };

export class ReplayReader {
  protected readonly rows: Table<Replay, number>;
  protected readonly results: Table<StoredResult, [number, number]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('eval_replays', { keyEncoding: 'uint32' });
    this.results = environment.openDatabase('eval_replay_results', {});
  }

  get(jobNo: number): Replay | undefined {
    return this.rows.get(jobNo);
  }

  /** Newest first. */
  numbers(limit: number): number[] {
    return [...this.rows.getKeys({ reverse: true, limit })];
  }

  /** What the queries came to so far, in the order of the plan. */
  resultsOf(jobNo: number): (ReplayedQuery | null)[] {
    return [...this.results.getRange(rangeOf(jobNo))].map(({ value }) => value.result);
  }

  countResults(jobNo: number): number {
    return this.results.getKeysCount(rangeOf(jobNo));
  }
}

/** Writer only: valid inside a transaction. */
export class ReplayTransactor extends ReplayReader {
  put(jobNo: number, replay: Replay): void {
    this.rows.put(jobNo, replay);
  }

  putResults(jobNo: number, from: number, results: readonly (ReplayedQuery | null)[]): void {
    for (const [i, result] of results.entries()) this.results.put([jobNo, from + i], { result });
  }

  /** Store the report; what it was made of is not needed any more. */
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
    for (const key of [...this.results.getKeys(rangeOf(jobNo))]) this.results.remove(key);
  }
}

function rangeOf(jobNo: number): { start: [number, number]; end: [number, number] } {
  return { start: [jobNo, 0], end: [jobNo, Number.MAX_SAFE_INTEGER] };
}
