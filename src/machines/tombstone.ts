/**
 * The tombstone machine: the erasure of a forgotten page. Pure, like the job machine.
 *
 * pending   row, text and chunks are gone; vectors and log entries wait for the purge job `job_no` (0: not queued yet)
 * deleted   gone from store, segments and vectors in memory; the files may still contain bytes of it
 * verified  every file has been rewritten and checked
 */
import { assign, setup } from 'xstate';
import type { Tombstone } from '../domain/blacklist.ts';
import type { Page } from '../domain/page.ts';
import { type NextRow, nextRowBy, theEvent } from './next-row.ts';

export type TombstoneEvent =
  /** `job_no` 0: its job is dead or gone, and another one will follow. */
  | { type: 'assigned'; job_no: number }
  | { type: 'purged' }
  | { type: 'rewritten' }
  /** A late result of the page was refused, but index files may contain parts of it under these labels. */
  | { type: 'late'; first_label: number; chunk_count: number };

const late = { type: 'noteLabels', params: theEvent } as const;

export const tombstoneMachine = setup({
  types: { context: {} as Tombstone, events: {} as TombstoneEvent, input: {} as Tombstone },
  actions: {
    noteJob: assign((_, { job_no }: { job_no: number }) => ({ job_no })),
    noteLabels: assign((_, { first_label, chunk_count }: Pick<Tombstone, 'first_label' | 'chunk_count'>) => ({
      first_label,
      chunk_count,
    })),
  },
}).createMachine({
  id: 'tombstone',
  context: ({ input }) => input,
  initial: 'pending',
  states: {
    pending: {
      on: { assigned: { actions: { type: 'noteJob', params: theEvent } }, purged: 'deleted', late: { actions: late } },
    },
    deleted: { on: { rewritten: 'verified', late: { actions: late } } },
    verified: { on: { late: { target: 'deleted', actions: late } } },
  },
});

export const nextTombstone: NextRow<Tombstone, TombstoneEvent> = nextRowBy(tombstoneMachine, 'state');

export function newTombstone({ no, first_label, chunk_count }: Page, at: number): Tombstone {
  return { page_no: no, state: 'pending', job_no: 0, first_label, chunk_count, forgotten_at: at };
}
