/**
 * Reads PDFs on a thread of their own, with the ways in which that fails as failures of the job. One at a time: a PDF may take
 * gigabytes of memory at worst, and nobody waits for it.
 */
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import type { RepeatedLineSettings } from '../../compute/pdf/repeated-lines.ts';
import { unnamedTypes } from '../../compute/web/unnamed-types.ts';
import { JobError } from '../../domain/errors.ts';
import { programFile } from '../../files/program-files.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { PdfFault } from '../../threads/pdf-thread.ts';
import { openThreadPool, QueueFullError, TaskTimeoutError } from '../../threads/thread-pool.ts';
import { givenAway, ranOutOfMemory, taskCode } from '../system/thread-faults.ts';
import { type ContentReader, type ContentReaders, isPdf } from './content-readers.ts';

/** Processor time that a PDF may take, ms: 200 pages take 2 s. */
const processorMs = 60_000;
/** …and the time that may pass meanwhile, the start of the thread included: on a machine that is busy, or does not count. */
const timeoutMs = 5 * processorMs;
const maxHeapMb = 1024;
/** PDFs, of up to `fetch.max_bytes`, that may wait. */
const maxQueue = 16;
const retryAfterMs = 5000;

export interface PdfReader {
  /** Errors: FetchError `unreadable` or `no_text`; JobError when too many wait; the signal's reason. */
  readers: ContentReaders<ExtractedPage>;
  close(): Promise<void>;
}

export function openPdfReader(settings: RepeatedLineSettings): PdfReader {
  const pool = openThreadPool<typeof import('../../threads/pdf-thread.ts')>({
    entry: programFile('threads/pdf-thread'),
    name: 'pdf',
    threads: 1,
    lazy: true,
    maxQueue,
    maxHeapMb,
    nice: 10,
  });
  const read: ContentReader<ExtractedPage> = async ({ bytes }, signal) => {
    if (!isPdf(bytes)) throw new FetchError('unsupported_content', 'is not a PDF, although it says so');
    try {
      const options = { timeoutMs, processorMs, signal, transfer: givenAway(bytes) };
      const page = await pool.run('readPdf', { bytes, settings }, options);
      if (page.text === '') throw new FetchError('no_text', 'the PDF has no text: its pages may be pictures');
      return page;
    } catch (error) {
      signal.throwIfAborted();
      throw asFailure(error);
    }
  };
  /** Many servers do not know what they send. */
  const unnamedReader = (type: string): ContentReader<ExtractedPage> => {
    return async (content, signal) => {
      if (isPdf(content.bytes)) return read(content, signal);
      throw new FetchError('unsupported_content', `unsupported content type ${type}`);
    };
  };
  const unnamed = Object.fromEntries(unnamedTypes.map((type) => [type, unnamedReader(type)]));
  return {
    readers: { 'application/pdf': read, 'application/x-pdf': read, ...unnamed },
    close: () => pool.close(),
  };
}

const sentences: Record<PdfFault, string> = {
  pdf_password: 'the PDF needs a password',
  pdf_broken: 'the PDF is broken',
  pdf_limit: 'the PDF is too large',
};

function asFailure(error: unknown): unknown {
  const unreadable = (message: string) => new FetchError('unreadable', message, { cause: error });
  if (error instanceof QueueFullError) return tooManyWait(error);
  if (error instanceof TaskTimeoutError)
    return unreadable(`the PDF took longer than ${error.limitMs / 1000} s to read`);
  if (!(error instanceof Error) || error instanceof JobError) return error;
  if (ranOutOfMemory(error)) return unreadable('the PDF takes too much memory to read');
  const code = taskCode(error);
  if (!isPdfFault(code)) return error;
  return unreadable(code === 'pdf_limit' ? `${sentences[code]}: it ${error.message}` : sentences[code]);
}

function isPdfFault(code: unknown): code is PdfFault {
  return typeof code === 'string' && Object.hasOwn(sentences, code);
}

function tooManyWait(cause: unknown): JobError {
  return new JobError('too many PDFs are waiting to be read', { retryAfterMs, cause });
}
