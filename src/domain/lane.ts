/** Lanes keep kinds of work from waiting for each other: each has its own order and its own bound of running jobs. */
import type { Job, JobKind } from './job.ts';

export const lanes = ['suspect', 'index', 'fetch', 'poll', 'purge', 'entities', 'background', 'backfill'] as const;
export type Lane = (typeof lanes)[number];

/** The lane of each kind. */
const laneOfKind: Readonly<Record<JobKind, Lane>> = {
  index_page: 'index',
  fetch_and_index: 'fetch',
  poll_watch: 'poll',
  purge_vectors: 'purge',
  // One for every page: what people start is not to wait for them.
  extract_entities: 'entities',
  canonicalize_entities: 'entities',
  // Hours, for which no other work is to wait.
  backfill_model: 'backfill',
  cluster: 'background',
  label_clusters: 'background',
  eval_replay: 'background',
};

/**
 * Suspects (given back after a crash) have a lane of their own, which runs before the others, one job at a time. A row may have a kind of
 * another version, of which its attempt says that there is no worker.
 */
export function laneOf({ kind, suspect }: Pick<Job, 'kind' | 'suspect'>): Lane {
  return suspect ? 'suspect' : (laneOfKind[kind] ?? 'background');
}
