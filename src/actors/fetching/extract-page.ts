/**
 * Extracts readable text: of submitted HTML, with failures as answers to the client, and of fetched content, with failures of its job.
 * Its own threads keep submissions from waiting for indexing.
 */
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import { programFile } from '../../files/program-files.ts';
import type { FetchedTranscript, SubmittedPage } from '../../threads/extract-thread.ts';
import { givenAway } from '../system/thread-faults.ts';
import type { ReadFetchedText } from './content-readers.ts';
import { openParserPool, type SharedParserPool } from './parser-pool.ts';

type Tasks = typeof import('../../threads/extract-thread.ts');

export interface Extractor {
  /** `isArticle`: already extracted. Errors: DomainError `invalid` for HTML over a limit of time, memory or depth; `overloaded`. */
  extract(html: string, url: string, isArticle?: boolean): Promise<SubmittedPage>;
  /** Takes ownership of the bytes. Errors: as of ParserPool. */
  readFetched: ReadFetchedText;
  /** Errors: as of `readFetched`. */
  readTranscript(transcript: FetchedTranscript, signal: AbortSignal): Promise<TranscriptText>;
}

export interface ExtractorThreads extends Extractor {
  /** The same for a library, which takes turns with others. */
  of(library: string): Extractor;
  close(): Promise<void>;
}

export function openExtractor(threads: number): ExtractorThreads {
  const pool = openParserPool<Tasks>({
    entry: programFile('threads/extract-thread'),
    name: 'extract',
    threads,
    nice: 5,
    maxQueue: 1000, // ten full batches
    maxHeapMb: 1024, // bodies are up to 16 MB; a parsed document takes about thirty times its length
    limits: { processorMs: 15_000, timeoutMs: 60_000 },
    retryAfterMs: 1000,
    sentences: {
      tooMany: 'too many pages are waiting for extraction',
      tooLong: 'took longer than',
      tooLarge: 'takes too much memory to read',
    },
  });
  const extractor = ({ run }: SharedParserPool<Tasks>): Extractor => ({
    extract: (html, url, isArticle = false) => run('extractSubmitted', { html, url, isArticle }).catch(answer),
    readFetched: (content, signal) => run('readFetched', content, { signal, transfer: givenAway(content.bytes) }),
    readTranscript: (transcript, signal) =>
      run('readPublishedTranscript', transcript, { signal, transfer: givenAway(transcript.bytes) }),
  });
  return { ...extractor(pool), of: (library) => extractor(pool.of(library)), close: () => pool.close() };
}

function answer(cause: unknown): never {
  if (!(cause instanceof JobError)) throw cause;
  if (!cause.permanent) throw new DomainError('overloaded', cause.message, { retryAfterS: 1, cause });
  throw new DomainError('invalid', `body_html: ${cause.message}`, { cause });
}
