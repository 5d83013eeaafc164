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
  if (!(error instanceof Error)) return error;
  if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new DomainError('invalid', 'body_html takes too much memory to read', { cause: error });
  }
  if (codeOf(error.cause) === 'extraction_limit') {
    return new DomainError('invalid', `body_html: ${error.message}`, { cause: error });
  }
  return error;
}

/** Errors lose their own fields on the way from a thread; a task that has a code sends it as the cause. */
function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function overloaded(cause?: unknown): DomainError {
  return new DomainError('overloaded', 'too many pages are waiting for extraction', { retryAfterS: 1, cause });
}
