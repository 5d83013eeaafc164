/** Lanes keep kinds of work from waiting for each other: each has its own order and its own bound of running jobs. */
import type { Job } from './job.ts';

export const lanes = ['suspect', 'index', 'fetch', 'poll', 'purge', 'entities', 'background', 'backfill'] as const;
export type Lane = (typeof lanes)[number];

/** Suspects (given back after a crash) have a lane of their own, which runs before the others, one job at a time. */
export function laneOf(job: Job): Lane {
  if (job.suspect) return 'suspect';
  if (job.kind === 'index_page') return 'index';
  if (job.kind === 'fetch_and_index') return 'fetch';
  if (job.kind === 'poll_watch') return 'poll';
  if (job.kind === 'purge_vectors') return 'purge';
  // One for every page: what people start is not to wait for them.
  if (job.kind === 'extract_entities' || job.kind === 'canonicalize_entities') return 'entities';
  if (job.kind === 'backfill_model') return 'backfill'; // hours, for which no other work is to wait
  return 'background';
}
