/**
 * Readable text of submitted HTML, with the ways in which that fails as answers to the one who sent it, and of what was fetched,
 * with those ways as failures of its job. Extraction has threads of its own, so that nobody's page is refused because others are being indexed; a page is handed over only when one of them is free.
 */
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import { programFile } from '../../files/program-files.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { FetchedTranscript } from '../../threads/extract-thread.ts';
import { openThreadPool, QueueFullError, type RunOptions, TaskTimeoutError } from '../../threads/thread-pool.ts';
import { givenAway, ranOutOfMemory, taskCode } from '../system/thread-faults.ts';
import type { ReadFetchedText } from './content-readers.ts';

/** Processor time that HTML may take to become text, ms. */
const processorMs = 15_000;
/** …and the time that may pass meanwhile, the start of a thread included: on a machine that is busy, or does not count. */
const timeoutMs = 4 * processorMs;
/** Bodies are up to 16 MB; a parsed document takes about thirty times its length. */
const maxHeapMb = 1024;
/** Pages that may wait here to be handed to a thread: ten full batches. */
const maxQueue = 1000;

export interface Extractor {
  /** Errors: DomainError `invalid` for HTML that takes too long, too much memory or is too deep; `overloaded` when too many wait. */
  extract(html: string, url: string): Promise<ExtractedPage>;
  /**
   * Read a text that was fetched; its bytes are given away.
   * Errors: FetchError `unreadable` for the same faults, and for what is no text; JobError when too many wait; the signal's reason.
   */
  readFetched: ReadFetchedText;
  /** Errors: as of `readFetched`. */
  readTranscript(transcript: FetchedTranscript, signal: AbortSignal): Promise<TranscriptText>;
  close(): Promise<void>;
}

export function openExtractor(threads: number): Extractor {
  const pool = openThreadPool<typeof import('../../threads/extract-thread.ts')>({
    entry: programFile('threads/extract-thread'),
    name: 'extract',
    threads,
    lazy: true,
    maxQueue,
    maxHeapMb,
    nice: 5,
  });
  /** Have a thread read what was fetched; its bytes are given away. */
  const fetched = async <Result>(
    { bytes }: { bytes: Uint8Array },
    signal: AbortSignal,
    read: (options: RunOptions) => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await read({ timeoutMs, processorMs, signal, transfer: givenAway(bytes) });
    } catch (error) {
      signal.throwIfAborted();
      throw asFailure(error);
    }
  };
  return {
    async extract(html, url) {
      try {
        return await pool.run('extract', { html, url }, { timeoutMs, processorMs });
      } catch (error) {
        throw asAnswer(error);
      }
    },
    readFetched: (content, signal) => fetched(content, signal, (options) => pool.run('readFetched', content, options)),
    readTranscript: (transcript, signal) =>
      fetched(transcript, signal, (options) => pool.run('readPublishedTranscript', transcript, options)),
    close: () => pool.close(),
  };
}

function asAnswer(error: unknown): unknown {
  if (error instanceof QueueFullError) return overloaded(error);
  if (error instanceof TaskTimeoutError) {
    return new DomainError('invalid', `body_html took longer than ${error.limitMs / 1000} s to read`, { cause: error });
  }
  if (!(error instanceof Error)) return error;
  if (ranOutOfMemory(error)) {
    return new DomainError('invalid', 'body_html takes too much memory to read', { cause: error });
  }
  if (taskCode(error) === 'extraction_limit') {
    return new DomainError('invalid', `body_html: ${error.message}`, { cause: error });
  }
  return error;
}

function asFailure(error: unknown): unknown {
  const unreadable = (message: string) => new FetchError('unreadable', message, { cause: error });
  if (error instanceof QueueFullError) return tooManyWait(error);
  if (error instanceof TaskTimeoutError) return unreadable(`took longer than ${error.limitMs / 1000} s to read`);
  if (!(error instanceof Error)) return error;
  if (ranOutOfMemory(error)) return unreadable('takes too much memory to read');
  if (taskCode(error) === 'extraction_limit') return unreadable('has too many or too deeply nested elements');
  return taskCode(error) === 'binary' ? unreadable('is not a text, although it says so') : error;
}

function tooManyWait(cause: unknown): JobError {
  return new JobError('too many pages are waiting for extraction', { retryAfterMs: 1000, cause });
}

function overloaded(cause: unknown): DomainError {
  return new DomainError('overloaded', 'too many pages are waiting for extraction', { retryAfterS: 1, cause });
}
