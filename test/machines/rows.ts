/** Rows for tests: a job and a page as they are when new, with what the test changes. */
import type { Job } from '../../src/domain/job.ts';
import type { Page } from '../../src/domain/page.ts';

export function jobRow(changes: Partial<Job> = {}): Job {
  return {
    no: 7,
    kind: 'index_page',
    status: 'pending',
    attempts: 0,
    max_attempts: 3,
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
    sections: [],
    index_job: 7,
    entity_job: null,
    first_label: 0,
    chunk_count: 0,
    ...changes,
  };
}
