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

export const statusKinds: Record<JobStatus, 'ok' | 'warn' | 'bad' | 'live' | 'plain'> = {
  pending: 'plain',
  running: 'live',
  done: 'ok',
  failed: 'warn',
  dead: 'bad',
};
