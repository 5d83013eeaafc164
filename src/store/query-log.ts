/**
 * The query log: rows are written once, deleted by age, and cleared of forgotten pages. Databases: `query_log` no →
 * row; `query_log_by_time` [kind, ts, no]; `query_log_by_id` [query id or compare id, no]; `query_feedback` [no, page
 * no] → relevant. Lists of hits are binary: scores (float64), labels, page numbers (uint32), little-endian.
 */
import { type LoggedHits, type QueryRun, type RunKind, runKinds } from '../domain/query-log.ts';
import { numbered, Records } from './records.ts';

type HitLists = 'candidate_set' | 'dense_hits' | 'sparse_hits';
type StoredRun = Omit<QueryRun, HitLists> & Record<HitLists, Buffer>;

export interface NumberedRun extends QueryRun {
  no: number;
}

export interface RunListing {
  /** ms, inclusive. */
  since?: number | undefined;
  kind?: RunKind | undefined;
  limit: number;
}

const end = Number.MAX_SAFE_INTEGER;
const bytesPerHit = 16;

export class QueryLogReader extends Records {
  protected readonly rows = this.table<StoredRun, number>('query_log', numbered);
  protected readonly byTime = this.table<number, [RunKind, number, number]>('query_log_by_time');
  protected readonly byId = this.table<number, [string, number]>('query_log_by_id');
  protected readonly marks = this.table<boolean, [number, number]>('query_feedback');

  get(no: number): NumberedRun | undefined {
    const row = this.rows.get(no);
    if (row === undefined) return undefined;
    const { candidate_set, dense_hits, sparse_hits, ...rest } = row;
    return {
      ...rest,
      no,
      candidate_set: decodeHits(candidate_set),
      dense_hits: decodeHits(dense_hits),
      sparse_hits: decodeHits(sparse_hits),
    };
  }

  /** Runs of a query id, or arms of a comparison. Empty for an id that is too long for a key. */
  numbersOf(id: string): number[] {
    if (Buffer.byteLength(id) > 256) return [];
    return [...this.byId.getKeys({ start: [id, 0], end: [id, end] })].map(([, no]) => no);
  }

  /** Newest first. */
  numbers({ since = 0, kind, limit }: RunListing): number[] {
    return (kind === undefined ? runKinds : [kind])
      .flatMap((each) => [...this.byTime.getKeys({ start: [each, end], end: [each, since, 0], reverse: true, limit })])
      .sort(([, ts, no], [, otherTs, otherNo]) => otherTs - ts || otherNo - no)
      .slice(0, limit)
      .map(([, , no]) => no);
  }

  countSince(since: number): number {
    return runKinds.reduce(
      (sum, kind) => sum + this.byTime.getKeysCount({ start: [kind, since, 0], end: [kind, end] }),
      0,
    );
  }

  feedback(no: number): Map<number, boolean> {
    return new Map(
      [...this.marks.getRange({ start: [no, 0], end: [no, end] })].map(({ key, value }) => [key[1], value]),
    );
  }

  protected isReadable(no: number): boolean {
    const row = this.rows.get(no);
    if (row === undefined) return false;
    return [row.candidate_set, row.dense_hits, row.sparse_hits].every(
      (bytes) => bytes instanceof Uint8Array && bytes.length % bytesPerHit === 0,
    );
  }

  numbersAfter(after: number, limit: number): number[] {
    return [...this.rows.getKeys({ start: after + 1, limit })];
  }

  judgedAfter(after: number, limit: number): number[] {
    const found: number[] = [];
    for (let next = after + 1; found.length < limit; ) {
      const [key] = [...this.marks.getKeys({ start: [next, 0], limit: 1 })];
      if (key === undefined) break;
      found.push(key[0]);
      next = key[0] + 1;
    }
    return found;
  }
}

export class QueryLogTransactor extends QueryLogReader {
  append(no: number, run: QueryRun): void {
    this.#put(no, run);
    this.byTime.put([run.kind, run.ts, no], 0);
    this.byId.put([run.query_id, no], 0);
    if (run.compare_id !== null) this.byId.put([run.compare_id, no], 0);
  }

  mark(no: number, pageNo: number, relevant: boolean): void {
    this.marks.put([no, pageNo], relevant);
  }

  /** Delete up to `limit` runs before this time, ms, with feedback. Returns how many. */
  removeBefore(before: number, limit: number): number {
    const old = runKinds.flatMap((kind) => [
      ...this.byTime.getKeys({ start: [kind, 0], end: [kind, before, 0], limit }),
    ]);
    for (const [kind, ts, no] of old.slice(0, limit)) {
      const row = this.rows.get(no);
      for (const id of [row?.query_id, row?.compare_id]) if (id != null) this.byId.remove([id, no]);
      for (const pageNo of this.feedback(no).keys()) this.marks.remove([no, pageNo]);
      this.byTime.remove([kind, ts, no]);
      this.rows.remove(no);
    }
    return Math.min(old.length, limit);
  }

  /** Remove these pages from the `limit` runs after `after`. Returns the last run examined, or null at the end. */
  removePages(
    pageNos: ReadonlySet<number>,
    after: number,
    limit: number,
    becameOf: (pageNo: number) => number | undefined,
  ): number | null {
    const numbers = this.numbersAfter(after, limit);
    for (const no of numbers) {
      const row = this.get(no);
      if (row === undefined) continue;
      const { no: _, ...run } = row;
      const without = withoutPages(run, (pageNo) => !pageNos.has(pageNo));
      if (without !== null) this.#put(no, { ...without, final_pages: replacedPages(run, pageNos, becameOf) });
      const marks = this.feedback(no);
      for (const [pageNo, relevant] of marks) {
        if (!pageNos.has(pageNo)) continue;
        const became = becameOf(pageNo);
        if (became !== undefined && !marks.has(became)) this.mark(no, became, relevant);
        this.marks.remove([no, pageNo]);
      }
    }
    return numbers.length < limit ? null : (numbers.at(-1) ?? null);
  }

  #put(no: number, { candidate_set, dense_hits, sparse_hits, ...rest }: QueryRun): void {
    this.rows.put(no, {
      ...rest,
      candidate_set: encodeHits(candidate_set),
      dense_hits: encodeHits(dense_hits),
      sparse_hits: encodeHits(sparse_hits),
    });
  }
}

/** Null if no page has to be removed. */
export function withoutPages(run: QueryRun, stays: (pageNo: number) => boolean): QueryRun | null {
  const lists = [run.candidate_set, run.dense_hits, run.sparse_hits];
  if (lists.every(({ page_nos }) => page_nos.every(stays)) && run.final_pages.every(({ page_no }) => stays(page_no))) {
    return null;
  }
  const [candidate_set, dense_hits, sparse_hits] = lists.map((hits) => keptHits(hits, stays));
  return {
    ...run,
    candidate_set,
    dense_hits,
    sparse_hits,
    final_pages: run.final_pages.filter(({ page_no }) => stays(page_no)),
  };
}

/** The answered pages, each once; merged pages are replaced by the page they were merged into. */
function replacedPages(
  { final_pages }: QueryRun,
  gone: ReadonlySet<number>,
  becameOf: (pageNo: number) => number | undefined,
): QueryRun['final_pages'] {
  const seen = new Set<number>();
  return final_pages.flatMap((page) => {
    const no = gone.has(page.page_no) ? becameOf(page.page_no) : page.page_no;
    if (no === undefined || seen.has(no)) return [];
    seen.add(no);
    return [{ ...page, page_no: no }];
  });
}

function keptHits({ labels, page_nos, scores }: LoggedHits, stays: (pageNo: number) => boolean): LoggedHits {
  const kept = [...page_nos.keys()].filter((i) => stays(page_nos[i]));
  return {
    labels: Uint32Array.from(kept, (i) => labels[i]),
    page_nos: Uint32Array.from(kept, (i) => page_nos[i]),
    scores: Float64Array.from(kept, (i) => scores[i]),
  };
}

function encodeHits({ labels, page_nos, scores }: LoggedHits): Buffer {
  return Buffer.concat(
    [scores, labels, page_nos].map((column) => Buffer.from(column.buffer, column.byteOffset, column.byteLength)),
  );
}

/** Copies, as LMDB's buffers are valid only until the next read. */
function decodeHits(bytes: Buffer): LoggedHits {
  const count = bytes.length % bytesPerHit === 0 ? bytes.length / bytesPerHit : 0; // damaged hits cannot be read
  const { buffer } = new Uint8Array(bytes);
  return {
    scores: new Float64Array(buffer, 0, count),
    labels: new Uint32Array(buffer, 8 * count, count),
    page_nos: new Uint32Array(buffer, 12 * count, count),
  };
}
