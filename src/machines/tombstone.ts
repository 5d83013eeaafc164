/**
 * The tombstone machine: the erasure of a forgotten page. Pure, like the job machine.
 *
 * pending   row, text and chunks are gone; vectors and log entries wait for the purge job `job_no` (0: not queued yet)
 * deleted   gone from store, segments and vectors in memory; the files may still contain bytes of it
 * verified  every file has been rewritten and checked
 */
import type { Tombstone, TombstoneState } from '../domain/blacklist.ts';
import type { Page } from '../domain/page.ts';
import { type NextRow, nextRowBy, type Transitions } from './next-row.ts';

export type TombstoneEvent =
  /** 0: its job is dead or gone, another one will follow. */
  | { type: 'assigned'; job_no: number }
  | { type: 'purged' }
  | { type: 'rewritten' }
  /** A late result of the page was refused, but index files may contain a part of it under these labels. */
  | { type: 'late'; first_label: number; chunk_count: number };

const late = (
  row: Tombstone,
  { first_label, chunk_count }: Pick<Tombstone, 'first_label' | 'chunk_count'>,
): Tombstone => ({
  ...row,
  first_label,
  chunk_count,
});

const transitions: Transitions<TombstoneState, Tombstone, TombstoneEvent> = {
  pending: {
    assigned: (row, { job_no }) => ({ ...row, job_no }),
    purged: (row) => ({ ...row, state: 'deleted' }),
    late,
  },
  deleted: { rewritten: (row) => ({ ...row, state: 'verified' }), late },
  verified: { late: (row, event) => ({ ...late(row, event), state: 'deleted' }) },
};

export const nextTombstone: NextRow<Tombstone, TombstoneEvent> = nextRowBy(transitions, 'state');

/** The row of a page forgotten now; `at` in ms. */
export function newTombstone({ no, first_label, chunk_count }: Page, at: number): Tombstone {
  return { page_no: no, state: 'pending', job_no: 0, first_label, chunk_count, forgotten_at: at };
}
