/** Readable text of submitted HTML, from a work thread, with the ways in which that fails as answers to the one who sent it. */
import type { ExtractedPage } from '../compute/extract-html.ts';
import { DomainError } from '../domain/errors.ts';
import { QueueFullError, TaskTimeoutError } from '../threads/thread-pool.ts';
import type { WorkPool } from './indexes.ts';

/** Longest that HTML may take to become text, ms, waiting for a thread included. */
const timeoutMs = 20_000;

/** Errors: DomainError `invalid` for HTML that takes too long, too much memory or is too deep; `overloaded` when too many wait. */
export function extractOn(work: WorkPool): (html: string, url: string) => Promise<ExtractedPage> {
  return async (html, url) => {
    try {
      return await work.run('extract', { html, url }, { timeoutMs });
    } catch (error) {
      throw asAnswer(error);
    }
  };
}

function asAnswer(error: unknown): unknown {
  if (error instanceof QueueFullError) {
    return new DomainError('overloaded', 'too many pages are waiting for extraction', { retryAfterS: 1, cause: error });
  }
  if (error instanceof TaskTimeoutError) {
    return new DomainError('invalid', `body_html took longer than ${timeoutMs / 1000} s to read`, { cause: error });
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new DomainError('invalid', 'body_html takes too much memory to read', { cause: error });
  }
  if (code === 'extraction_limit' && error instanceof Error) {
    return new DomainError('invalid', `body_html: ${error.message}`, { cause: error });
  }
  return error;
}
