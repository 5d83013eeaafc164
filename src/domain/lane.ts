/** Lanes separate kinds of work: each has its own order and limit of running jobs. */
import type { Job, JobKind } from './job.ts';

export const lanes = ['suspect', 'index', 'fetch', 'poll', 'purge', 'entities', 'background', 'backfill'] as const;
export type Lane = (typeof lanes)[number];

const laneOfKind: Readonly<Record<JobKind, Lane>> = {
  index_page: 'index',
  fetch_and_index: 'fetch',
  poll_watch: 'poll',
  purge_vectors: 'purge',
  // One for every page: what people start is not to wait for them.
  extract_entities: 'entities',
  // Hours, for which no other work is to wait.
  backfill_model: 'backfill',
  canonicalize_entities: 'background',
  cluster: 'background',
  label_clusters: 'background',
  eval_replay: 'background',
};

/**
 * Suspects (released after a crash) have their own lane, which runs first, one job at a time. A row may have a kind of
 * another version, whose attempt fails for lack of a worker.
 */
export function laneOf({ kind, suspect }: Pick<Job, 'kind' | 'suspect'>): Lane {
  return suspect ? 'suspect' : (laneOfKind[kind] ?? 'background');
}
