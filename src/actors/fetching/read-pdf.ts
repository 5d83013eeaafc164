/** Reads PDFs on a thread, one at a time: a PDF may take gigabytes of memory. */
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import type { RepeatedLineSettings } from '../../compute/pdf/repeated-lines.ts';
import { unnamedTypes } from '../../compute/web/content-types.ts';
import type { PageFacts } from '../../domain/page-facts.ts';
import { programFile } from '../../files/program-files.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { givenAway } from '../system/thread-faults.ts';
import { type ContentReader, type ContentReaders, isPdf } from './content-readers.ts';
import { openParserPool, type SharedParserPool } from './parser-pool.ts';

type Tasks = typeof import('../../threads/pdf-thread.ts');

type ReadPdf = ExtractedPage & Pick<PageFacts, 'content_type'>;

export interface PdfThread {
  /** Takes turns with other libraries. Errors: FetchError `no_text`, `unsupported_content`; those of ParserPool. */
  of(library: string): ContentReaders<ReadPdf>;
  close(): Promise<void>;
}

export function openPdfReader(settings: RepeatedLineSettings): PdfThread {
  const pool = openParserPool<Tasks>({
    entry: programFile('threads/pdf-thread'),
    name: 'pdf',
    maxQueue: 16, // of up to `fetch.max_bytes`
    maxHeapMb: 1024,
    limits: { processorMs: 60_000, timeoutMs: 300_000 }, // 200 pages take 2 s
    retryAfterMs: 5000,
    sentences: {
      tooMany: 'too many PDFs are waiting to be read',
      tooLong: 'the PDF took longer than',
      tooLarge: 'the PDF takes too much memory to read',
    },
  });
  return { of: (library) => readersOn(pool.of(library), settings), close: () => pool.close() };
}

function readersOn({ run }: SharedParserPool<Tasks>, settings: RepeatedLineSettings): ContentReaders<ReadPdf> {
  const read: ContentReader<ReadPdf> = async ({ bytes }, signal) => {
    if (!isPdf(bytes)) throw new FetchError('unsupported_content', 'is not a PDF, although it says so');
    const page = await run('readPdf', { bytes, settings }, { signal, transfer: givenAway(bytes) });
    if (page.text === '') throw new FetchError('no_text', 'the PDF has no text: its pages may be pictures');
    return { ...page, content_type: 'application/pdf' };
  };
  /** Many servers send no usable type. */
  const unnamedReader = (type: string): ContentReader<ReadPdf> => {
    return async (content, signal) => {
      if (isPdf(content.bytes)) return read(content, signal);
      throw new FetchError('unsupported_content', `unsupported content type ${type}`);
    };
  };
  const unnamed = Object.fromEntries(unnamedTypes.map((type) => [type, unnamedReader(type)]));
  return { 'application/pdf': read, 'application/x-pdf': read, ...unnamed };
}
