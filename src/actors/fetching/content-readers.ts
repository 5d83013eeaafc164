/** Maps content types to readers. A new kind of content is added here. */
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import { wallNames } from '../../compute/extraction/recognize-wall.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { FetchedText, ReadText, TextKind } from '../../threads/extract-thread.ts';

export type FetchedContent = Omit<FetchedText, 'kind' | 'call'>;

/** Content that only redirects to an absolute http or https address. */
export interface Redirect {
  redirect: string;
}

/** Reads a page; takes ownership of the bytes. Errors: FetchError if unreadable; JobError if a retry may work. */
export type ContentReader<Read = ExtractedPage | Redirect> = (
  content: FetchedContent,
  signal: AbortSignal,
) => Promise<Read>;

/** Lower case, without parameters. */
export type ContentReaders<Read = ExtractedPage | Redirect> = Readonly<Record<string, ContentReader<Read>>>;

export type ReadFetchedText = (content: FetchedContent & { kind: TextKind }, signal: AbortSignal) => Promise<ReadText>;

const textKinds: Record<string, TextKind> = {
  'text/html': 'html',
  'application/xhtml+xml': 'xhtml',
  'text/plain': 'plain',
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
};

export function textReaders(read: ReadFetchedText): ContentReaders {
  const readerOf = (kind: TextKind): ContentReader => {
    return async (content, signal) => {
      const result = await read({ ...content, kind }, signal);
      if ('wall' in result) throw new FetchError(result.wall, wallNames[result.wall], { said: result.page });
      return 'page' in result ? result.page : result;
    };
  };
  return Object.fromEntries(Object.entries(textKinds).map(([type, kind]) => [type, readerOf(kind)]));
}

/** Type ('' if missing) and charset. Of several, the last valid one counts. Source: Fetch, "extract a MIME type". */
export function contentTypeOf(header: string | undefined): { type: string; charset: string | null } {
  const said = (header ?? '').split(',').map(oneContentType);
  const type = said.findLast((each) => each.type !== '')?.type ?? '';
  return { type, charset: said.findLast((each) => each.type === type && each.charset !== null)?.charset ?? null };
}

function oneContentType(text: string): { type: string; charset: string | null } {
  const [type = '', ...parameters] = text.split(';');
  const charset = /^\s*charset\s*=\s*"?([^"\s]+)/i;
  const said = parameters.map((parameter) => charset.exec(parameter)?.[1]).find((name) => name !== undefined);
  const named = type.trim().toLowerCase();
  return { type: isMediaType(named) ? named : '', charset: said ?? null };
}

function isMediaType(text: string): boolean {
  return /^[^/\s]+\/[^/\s]+$/.test(text) && text !== '*/*';
}

/** Other programs may write junk before the mark. */
export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 1024)).toString('latin1').includes('%PDF-');
}

/** Guesses the type of untyped content: PDF, HTML, or else text (readers refuse binary data). */
export function sniffedType(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 512)).toString('latin1');
  if (/^\s*%PDF-/.test(start)) return 'application/pdf';
  return /^(?:[^<]{0,8})\s*<(?:!doctype|!--|html|head|body|script|title|meta|\?xml)/i.test(start)
    ? 'text/html'
    : 'text/plain';
}
