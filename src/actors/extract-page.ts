/** Readable text of submitted HTML, from the work threads, with the ways in which that fails as answers to the one who sent it. */
import pLimit from 'p-limit';
import type { ExtractedPage } from '../compute/extract-html.ts';
import { DomainError } from '../domain/errors.ts';
import { QueueFullError, TaskTimeoutError } from '../threads/thread-pool.ts';
import type { WorkPool } from './indexes.ts';

/** Longest that HTML may take to become text, ms. The queue before a thread is short, because few are handed over at once. */
const timeoutMs = 15_000;
/** Pages that may wait here to be handed to a thread: ten full batches. */
const maxWaiting = 1000;

/** Errors: DomainError `invalid` for HTML that takes too long, too much memory or is too deep; `overloaded` when too many wait. */
export function extractOn(work: WorkPool, threads: number): (html: string, url: string) => Promise<ExtractedPage> {
  const limit = pLimit(threads);
  return async (html, url) => {
    if (limit.pendingCount >= maxWaiting) throw overloaded();
    try {
      return await limit(() => work.run('extract', { html, url }, { timeoutMs }));
    } catch (error) {
      throw asAnswer(error);
    }
  };
}

function asAnswer(error: unknown): unknown {
  if (error instanceof QueueFullError) return overloaded(error);
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

function overloaded(cause?: unknown): DomainError {
  return new DomainError('overloaded', 'too many pages are waiting for extraction', { retryAfterS: 1, cause });
}
