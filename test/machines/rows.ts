/** Rows for tests: a job and a page as they are when new, with what the test changes. */
import type { Job } from '../../src/domain/job.ts';
import type { Chunk, Page } from '../../src/domain/page.ts';
import type { Watch } from '../../src/domain/watch.ts';

export function jobRow(changes: Partial<Job> = {}): Job {
  return {
    no: 7,
    kind: 'index_page',
    status: 'pending',
    attempts: 0,
    max_attempts: 3,
    unreached: 0,
    last_error: null,
    created_at: 100,
    updated_at: 100,
    run_at: 100,
    lease_until: 0,
    claim: 0,
    incarnation: '',
    suspect: false,
    page_no: 5,
    ...changes,
  };
}

export function pageRow(changes: Partial<Page> = {}): Page {
  return {
    no: 5,
    canonical_url: 'https://example.com/a',
    original_url: 'https://example.com/a?utm_source=x',
    domain: 'example.com',
    title: 'A page',
    source: null,
    metadata: null,
    first_seen_at: 100,
    last_seen_at: 100,
    visit_count: 1,
    indexed_at: null,
    status: 'queued',
    content_hash: null,
    index_job: 7,
    entity_job: null,
    first_label: 0,
    chunk_count: 0,
    ...changes,
  };
}

export const chunkRow = (char_start: number, char_end: number, changes: Partial<Chunk> = {}): Chunk => ({
  char_start,
  char_end,
  token_count: 1,
  section_title: null,
  section_start_s: null,
  ...changes,
});

/** A watch that is due at noon of some day. */
export function watchRow(changes: Partial<Watch> = {}): Watch {
  return {
    no: 3,
    url: 'https://example.com/feed',
    kind: 'rss',
    title: null,
    enabled: true,
    interval_hours: 24,
    config: null,
    next_run_at: 1_800_000_000_000,
    last_run_at: null,
    status: 'pending',
    last_error: null,
    last_item_count: null,
    created_at: 1_800_000_000_000,
    poll_job: 0,
    validators: null,
    feed_url: null,
    ...changes,
  };
}
