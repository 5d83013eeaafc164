/** Submissions for tests: a page with a text, with what the test changes. */
import type { PageSubmission } from '../../src/commands/ingest-page.ts';

export function submission(changes: Partial<PageSubmission> = {}): PageSubmission {
  return {
    canonical_url: 'https://example.com/a',
    original_url: 'https://example.com/a?utm_source=x',
    domain: 'example.com',
    title: 'A page',
    body: 'some text',
    content_hash: 'hash of some text',
    sections: [],
    source: 'test',
    metadata: null,
    seen_at: 1000,
    at: 2000,
    max_attempts: 3,
    ...changes,
  };
}
