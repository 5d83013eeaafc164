/**
 * The backfill machine: computes a model's vectors of every page, sweeping the pages present at its start by number.
 * Later pages and new contents bring their vectors, or leave a gap, in the transaction of their chunks. So if the sweep
 * has ended and no gap is left, every page has its vectors.
 *
 * running   the sweep is in progress; its job handles pauses (breaker open, drain, crash)
 * complete  the cursor is at the end without gaps; a later gap starts it again
 * failed    its job is dead; a new start resumes from the cursor
 */
import { assign, setup } from 'xstate';
import type { Backfill } from '../domain/model.ts';
import { type NextRow, nextRowBy, theEvent } from './next-row.ts';

export type BackfillEvent =
  /** `afresh`: from the first page to `lastPage`; otherwise from the cursor, to fill gaps. */
  | { type: 'start'; at: number; job_no: number; afresh: boolean; lastPage: number }
  | { type: 'plan'; at: number; chunks: number; tokens: number }
  /** Pages up to `cursor` (null: pages of gaps) have vectors: of `embedded` chunks; this slice made `made` of them. */
  | { type: 'advance'; at: number; cursor: number | null; embedded: number; made: number; busyMs: number }
  | { type: 'stumble'; at: number; message: string }
  /** `chunks` have vectors; `tokens` counts all chunks. */
  | { type: 'finish'; at: number; gaps: boolean; chunks: number; tokens: number }
  | { type: 'fail'; at: number; message: string };

type EventOf<Type extends BackfillEvent['type']> = Extract<BackfillEvent, { type: Type }>;

const start = { target: 'running', actions: { type: 'begin', params: theEvent } } as const;

const backfillMachine = setup({
  types: { context: {} as Backfill, events: {} as BackfillEvent, input: {} as Backfill },
  guards: {
    everythingIsThere: ({ context }, { gaps }: EventOf<'finish'>) => context.cursor >= context.last_page && !gaps,
    goesOn: ({ context }, { cursor }: EventOf<'advance'>) => cursor === null || cursor >= context.cursor,
  },
  actions: {
    begin: assign(({ context }, { at, job_no, afresh, lastPage }: EventOf<'start'>) => {
      const again = { job_no, finished_at: null, last_error: null, updated_at: at };
      if (!afresh) return again;
      const counts = { total_chunks: null, total_tokens: null, embedded_chunks: 0, made_chunks: 0, busy_ms: 0 };
      return { ...context, ...again, ...counts, cursor: 0, last_page: lastPage, started_at: at };
    }),
    notePlan: assign((_, { at, chunks, tokens }: EventOf<'plan'>) => ({
      total_chunks: chunks,
      total_tokens: tokens,
      updated_at: at,
    })),
    advance: assign(({ context }, { at, cursor, embedded, made, busyMs }: EventOf<'advance'>) => ({
      cursor: cursor ?? context.cursor,
      embedded_chunks: context.embedded_chunks + embedded,
      made_chunks: context.made_chunks + made,
      busy_ms: context.busy_ms + busyMs,
      last_error: null,
      updated_at: at,
    })),
    noteError: assign((_, { at, message }: EventOf<'stumble' | 'fail'>) => ({ last_error: message, updated_at: at })),
    /** Corrects the counts: pages were forgotten and added since the start. */
    close: assign((_, { at, chunks, tokens }: EventOf<'finish'>) => {
      const counts = { total_chunks: chunks, embedded_chunks: chunks, total_tokens: tokens };
      return { ...counts, finished_at: at, last_error: null, updated_at: at };
    }),
  },
}).createMachine({
  id: 'backfill',
  context: ({ input }) => input,
  initial: 'running',
  states: {
    running: {
      on: {
        plan: { actions: { type: 'notePlan', params: theEvent } },
        advance: { guard: { type: 'goesOn', params: theEvent }, actions: { type: 'advance', params: theEvent } },
        stumble: { actions: { type: 'noteError', params: theEvent } },
        finish: {
          guard: { type: 'everythingIsThere', params: theEvent },
          target: 'complete',
          actions: { type: 'close', params: theEvent },
        },
        fail: { target: 'failed', actions: { type: 'noteError', params: theEvent } },
      },
    },
    complete: { on: { start } },
    failed: { on: { start } },
  },
});

export const nextBackfill: NextRow<Backfill, BackfillEvent> = nextRowBy(backfillMachine, 'status');

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
