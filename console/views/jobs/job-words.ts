/** Names of job kinds and states. */
import type { JobKind, JobStatus } from '../../../src/domain/job.ts';

const kinds: Record<JobKind, string> = {
  index_page: 'Index a page',
  fetch_and_index: 'Fetch and index',
  extract_entities: 'Find names',
  backfill_model: 'Compute vectors',
  cluster: 'Find topics',
  label_clusters: 'Name topics',
  canonicalize_entities: 'Merge names',
  purge_vectors: 'Purge deleted pages',
  eval_replay: 'Replay searches',
  poll_watch: 'Check a feed',
};

export const kindWords = (kind: string): string => (kinds as Record<string, string>)[kind] ?? kind;
export const kindOptions = Object.entries(kinds);

/** Named like states of pages: a failed job is retried, a dead one is not. */
export const jobStates: Record<JobStatus, { word: string; badge: 'ok' | 'warn' | 'bad' | 'live' | 'plain' }> = {
  pending: { word: 'waiting', badge: 'plain' },
  running: { word: 'running', badge: 'live' },
  failed: { word: 'retrying soon', badge: 'warn' },
  dead: { word: 'failed', badge: 'bad' },
  done: { word: 'done', badge: 'ok' },
};
