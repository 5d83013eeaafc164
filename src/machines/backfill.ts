/**
 * The backfill machine: how a model comes to have vectors of every page. Its row is the durable cursor; the job of kind
 * `backfill_model` moves it, and it follows that job when the job dies or is retried. Pure, like the job machine.
 *
 * A backfill sweeps the pages that were there when it started, in the order of their numbers. Pages that are indexed later, and
 * content that is replaced, bring their vectors along, or leave a gap, in one transaction with their chunks. So when the
 * cursor has come to the end and no gap is left, every page has its vectors.
 *
 * running   the sweep is on its way; a pause (breaker open, drain, crash) is a matter of its job
 * complete  the cursor is at the end, no gap was left; a later gap starts it again
 * failed    its job is dead; started again it goes on from the cursor
 */
import { assign, setup } from 'xstate';
import type { Backfill } from '../domain/model.ts';
import { type NextRow, nextRowBy, theEvent } from './next-row.ts';

export type BackfillEvent =
  /** `afresh`: from the first page to `lastPage`; else from where it is, for the sake of gaps. */
  | { type: 'start'; at: number; job_no: number; afresh: boolean; lastPage: number }
  | { type: 'plan'; at: number; chunks: number; tokens: number }
  /** Pages up to `cursor` (null: pages of gaps) have their vectors; `embedded` chunks of them, of which `made` came with this slice. */
  | { type: 'advance'; at: number; cursor: number | null; embedded: number; made: number; busyMs: number }
  | { type: 'stumble'; at: number; message: string }
  /** `chunks` have their vectors now; `tokens` are those of all chunks. */
  | { type: 'finish'; at: number; gaps: boolean; chunks: number; tokens: number }
  | { type: 'fail'; at: number; message: string };

type EventOf<Type extends BackfillEvent['type']> = Extract<BackfillEvent, { type: Type }>;

const start = { target: 'running', actions: { type: 'begin', params: theEvent } } as const;

export const backfillMachine = setup({
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
    /** Pages that were forgotten or came meanwhile make the counts of the start and the sweep others. */
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

/** The row after an event, or null where the backfill's state does not accept it. */
export const nextBackfill: NextRow<Backfill, BackfillEvent> = nextRowBy(backfillMachine, 'status');

/** The row of a model's first backfill. */
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
