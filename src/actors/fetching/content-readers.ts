/**
 * Who reads what was fetched: a table from content type to reader. A kind of content is added here, with the reader that turns
 * its bytes into a page.
 */
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { ReadText, TextKind } from '../../threads/extract-thread.ts';

export interface FetchedContent {
  bytes: Uint8Array;
  /** As the header names it. */
  charset: string | null;
  /** Where it came from; without it nothing redirects. */
  address?: string;
  /** The header `Refresh` that came with it. */
  refresh?: string | undefined;
}

/** Content that is no page, only the way to one at this address: absolute, http or https. */
export interface Redirect {
  redirect: string;
}

/**
 * Bytes to a page; they are given away.
 * Errors: FetchError for what cannot be read or is no page; JobError when it may work later.
 */
export type ContentReader<Read = ExtractedPage | Redirect> = (
  content: FetchedContent,
  signal: AbortSignal,
) => Promise<Read>;

/** By content type, in lower case, without parameters. */
export type ContentReaders<Read = ExtractedPage | Redirect> = Readonly<Record<string, ContentReader<Read>>>;

/** Reads a fetched text on a thread. */
export type ReadFetchedText = (content: FetchedContent & { kind: TextKind }, signal: AbortSignal) => Promise<ReadText>;

const wallMessages = {
  challenge: 'challenge page',
  login_wall: 'login page',
  cookie_wall: 'cookie wall',
  error_page: 'error page',
  needs_script: 'a page that needs JavaScript',
} as const;

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
      if ('wall' in result) throw new FetchError(result.wall, wallMessages[result.wall]);
      return 'page' in result ? result.page : result;
    };
  };
  return Object.fromEntries(Object.entries(textKinds).map(([type, kind]) => [type, readerOf(kind)]));
}

/**
 * Content type and charset of an answer's head. `type` is '' where the head does not say. Of several that a
 * proxy joined with commas the last one holds, with the charset that was said of that type.
 * Source: Fetch standard, "extract a MIME type": what is none, such as a charset behind a comma, is passed over.
 */
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

/** Its mark is at the beginning, or near it behind what other programs have put there. */
export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 1024)).toString('latin1').includes('%PDF-');
}

/** What content without a type is: a PDF or HTML where it begins like that, a text otherwise (the readers refuse what is none). */
export function sniffedType(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 512)).toString('latin1');
  if (/^\s*%PDF-/.test(start)) return 'application/pdf';
  return /^(?:[^<]{0,8})\s*<(?:!doctype|!--|html|head|body|script|title|meta|\?xml)/i.test(start)
    ? 'text/html'
    : 'text/plain';
}
