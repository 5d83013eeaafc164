/**
 * The backfill machine: computes a model's vectors of every page. Its row is the durable cursor; the `backfill_model` job moves it, and it
 * follows that job's death and retries. Pure, like the job machine.
 *
 * A backfill sweeps the pages present at its start in the order of their numbers. Later pages and replaced content bring their vectors, or
 * leave a gap, in the transaction of their chunks. So at the end of the sweep without gaps every page has its vectors.
 *
 * running   the sweep is in progress; its job handles pauses (breaker open, drain, crash)
 * complete  the cursor is at the end without gaps; a later gap starts it again
 * failed    its job is dead; a new start resumes from the cursor
 */
import type { Backfill } from '../domain/model.ts';
import { type NextRow, nextRowBy, type Transitions } from './next-row.ts';

export type BackfillEvent =
  /** `afresh`: from the first page to `lastPage`; else from the cursor, to fill gaps. */
  | { type: 'start'; at: number; job_no: number; afresh: boolean; lastPage: number }
  | { type: 'plan'; at: number; chunks: number; tokens: number }
  /** Pages up to `cursor` (null: pages of gaps) have their vectors; `embedded` chunks of them, of which this slice made `made`. */
  | { type: 'advance'; at: number; cursor: number | null; embedded: number; made: number; busyMs: number }
  | { type: 'stumble'; at: number; message: string }
  /** `chunks` have their vectors; `tokens` are those of all chunks. */
  | { type: 'finish'; at: number; gaps: boolean; chunks: number; tokens: number }
  | { type: 'fail'; at: number; message: string };

type EventOf<Type extends BackfillEvent['type']> = Extract<BackfillEvent, { type: Type }>;

const start = (row: Backfill, { at, job_no, afresh, lastPage }: EventOf<'start'>): Backfill => {
  const begun = { ...row, status: 'running', job_no, finished_at: null, last_error: null, updated_at: at } as const;
  if (!afresh) return begun;
  const counts = { total_chunks: null, total_tokens: null, embedded_chunks: 0, made_chunks: 0, busy_ms: 0 };
  return { ...begun, ...counts, cursor: 0, last_page: lastPage, started_at: at };
};

const transitions: Transitions<Backfill['status'], Backfill, BackfillEvent> = {
  running: {
    plan: (row, { at, chunks, tokens }) => ({ ...row, total_chunks: chunks, total_tokens: tokens, updated_at: at }),
    advance: (row, { at, cursor, embedded, made, busyMs }) =>
      cursor !== null && cursor < row.cursor
        ? null
        : {
            ...row,
            cursor: cursor ?? row.cursor,
            embedded_chunks: row.embedded_chunks + embedded,
            made_chunks: row.made_chunks + made,
            busy_ms: row.busy_ms + busyMs,
            last_error: null,
            updated_at: at,
          },
    stumble: (row, { at, message }) => ({ ...row, last_error: message, updated_at: at }),
    /** Forgotten and new pages have changed the counts since the start. */
    finish(row, { at, gaps, chunks, tokens }) {
      if (row.cursor < row.last_page || gaps) return null;
      const counts = { total_chunks: chunks, embedded_chunks: chunks, total_tokens: tokens };
      return { ...row, ...counts, status: 'complete', finished_at: at, last_error: null, updated_at: at };
    },
    fail: (row, { at, message }) => ({ ...row, status: 'failed', last_error: message, updated_at: at }),
  },
  complete: { start },
  failed: { start },
};

export const nextBackfill: NextRow<Backfill, BackfillEvent> = nextRowBy(transitions, 'status');

export function firstBackfill(
  model: { id: string; space: number },
  { at, job_no, lastPage }: Pick<EventOf<'start'>, 'at' | 'job_no' | 'lastPage'>,
): Backfill {
  return {
    space: model.space,
    model_id: model.id,
    job_no,
    status: 'running',
    cursor: 0,
    last_page: lastPage,
    total_chunks: null,
    total_tokens: null,
    embedded_chunks: 0,
    made_chunks: 0,
    busy_ms: 0,
    started_at: at,
    updated_at: at,
    finished_at: null,
    last_error: null,
  };
}
