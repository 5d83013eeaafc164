/** Extracts text on threads: of submitted HTML (errors answer the client), of fetched content (errors fail the job). */

import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import type { RepeatedLineSettings } from '../../compute/extraction/repeated-lines.ts';
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import { unnamedTypes } from '../../compute/web/content-types.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import type { PageFacts } from '../../domain/page-facts.ts';
import { programFile } from '../../files/program-files.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { FetchedTranscript, SubmittedPage } from '../../threads/extract-thread.ts';
import { type ContentReader, type ContentReaders, isPdf, type ReadFetchedText } from './content-readers.ts';
import { givenAway, openParserPool, type SharedParserPool } from './parser-pool.ts';

type Tasks = typeof import('../../threads/extract-thread.ts');

export type Extractor = ReturnType<typeof extractorOn>;

/** `of` returns the extractor of a library; libraries take turns. */
export function openExtractor(threads: number) {
  const pool = openParserPool<Tasks>({
    entry: programFile('threads/extract-thread'),
    name: 'extract',
    threads,
    nice: 5,
    maxQueue: 1000, // ten full batches
    maxHeapMb: 1024, // bodies have up to 16 MB, and parsing takes about thirty times as much
    limits: { processorMs: 15_000, timeoutMs: 60_000 },
    retryAfterMs: 1000,
    sentences: {
      tooMany: 'too many pages are waiting for extraction',
      tooLong: 'took longer than',
      tooLarge: 'takes too much memory to read',
    },
  });
  return {
    ...extractorOn(pool),
    of: (library: string) => extractorOn(pool.of(library)),
    close: () => pool.close(),
  };
}

function extractorOn({ run }: SharedParserPool<Tasks>) {
  /** Takes ownership of the bytes. Errors: as of ParserPool. */
  const readFetched: ReadFetchedText = (content, signal) =>
    run('readFetched', content, { signal, transfer: givenAway(content.bytes) });
  return {
    /** `isArticle`: no menus. Errors: DomainError `overloaded`; `invalid` over a limit of time, memory or depth. */
    extract: (html: string, url: string, isArticle = false): Promise<SubmittedPage> =>
      run('extractSubmitted', { html, url, isArticle }).catch(answer),
    readFetched,
    readTranscript: (transcript: FetchedTranscript, signal: AbortSignal): Promise<TranscriptText> =>
      run('readPublishedTranscript', transcript, { signal, transfer: givenAway(transcript.bytes) }),
  };
}

function answer(cause: unknown): never {
  if (!(cause instanceof JobError)) throw cause;
  if (!cause.permanent) throw new DomainError('overloaded', cause.message, { retryAfterS: 1, cause });
  throw new DomainError('invalid', `body_html: ${cause.message}`, { cause });
}

type PdfTasks = typeof import('../../threads/pdf-thread.ts');

type ReadPdf = ExtractedPage & Pick<PageFacts, 'content_type'>;

/** Libraries take turns. Errors of reading: FetchError `no_text`, `unsupported_content`; those of ParserPool. */
export function openPdfReader(settings: RepeatedLineSettings) {
  const pool = openParserPool<PdfTasks>({
    entry: programFile('threads/pdf-thread'),
    name: 'pdf',
    maxQueue: 16, // each has up to `fetch.max_bytes`
    maxHeapMb: 1024,
    limits: { processorMs: 60_000, timeoutMs: 300_000 }, // 200 pages take 2 s
    retryAfterMs: 5000,
    sentences: {
      tooMany: 'too many PDFs are waiting to be read',
      tooLong: 'the PDF took longer than',
      tooLarge: 'the PDF takes too much memory to read',
    },
  });
  return { of: (library: string) => readersOn(pool.of(library), settings), close: () => pool.close() };
}

function readersOn({ run }: SharedParserPool<PdfTasks>, settings: RepeatedLineSettings): ContentReaders<ReadPdf> {
  const read: ContentReader<ReadPdf> = async ({ bytes }, signal) => {
    if (!isPdf(bytes)) throw new FetchError('unsupported_content', 'is not a PDF, although its content type says so');
    const page = await run('readPdf', { bytes, settings }, { signal, transfer: givenAway(bytes) });
    if (page.text === '') throw new FetchError('no_text', 'the PDF has no text: its pages may be pictures');
    return { ...page, content_type: 'application/pdf' };
  };
  /** Many servers send no useful content type. */
  const unnamedReader = (type: string): ContentReader<ReadPdf> => {
    return async (content, signal) => {
      if (isPdf(content.bytes)) return read(content, signal);
      throw new FetchError('unsupported_content', `unsupported content type ${type}`);
    };
  };
  const unnamed = Object.fromEntries(unnamedTypes.map((type) => [type, unnamedReader(type)]));
  return { 'application/pdf': read, 'application/x-pdf': read, ...unnamed };
}
