/** Tasks of the `extract` pool: readable text of a submitted or fetched page, with time and heap limits. */
import { type ExtractedPage, extractArticle, extractHtml } from '../compute/extraction/extract-html.ts';
import { readMarkdown, readPlainText } from '../compute/extraction/markdown-text.ts';
import { redirectOf } from '../compute/extraction/page-redirect.ts';
import { ExtractionLimitError } from '../compute/extraction/parse-page.ts';
import { recognizeWall, type Wall } from '../compute/extraction/recognize-wall.ts';
import { decodeText } from '../compute/text/decode-text.ts';
import { readTranscript, type TranscriptFormat } from '../compute/transcript/read-transcript.ts';
import { type TranscriptText, transcriptText } from '../compute/transcript/transcript-text.ts';
import { giveBackMemory } from './collect-garbage.ts';
import type { CaptionsFile } from './media-thread.ts';
import { beginTask, type Limited, unreadable } from './thread-pool.ts';

/** UTF-16 units. Parsing takes thirty times the memory, and seconds. */
const largeHtml = 1024 * 1024;

export type TextKind = 'html' | 'xhtml' | 'plain' | 'markdown';

export interface FetchedText extends Limited {
  kind: TextKind;
  bytes: Uint8Array;
  /** Charset in the header. */
  charset: string | null;
  /** Source address; without it, redirects are not read. */
  address?: string;
  refresh?: string | undefined;
}

export interface SubmittedPage extends ExtractedPage {
  wall?: Wall | null;
}

export type ReadText = { wall: Wall; page: ExtractedPage } | { redirect: string } | { page: ExtractedPage };

/** `extract`, plus the kind of wall if the page is one. */
export function extractSubmitted(page: { html: string; url: string; isArticle?: boolean } & Limited): SubmittedPage {
  const extracted = extract(page);
  return { ...extracted, wall: recognizeWall({ ...extracted, html: page.html }) };
}

/** `isArticle`: the article alone. `url`: '' for fetched pages. Errors: `unreadable`, for an ExtractionLimitError. */
export function extract(page: { html: string; url: string; isArticle?: boolean } & Limited): ExtractedPage {
  beginTask(page);
  try {
    return page.isArticle === true ? extractArticle(page.html, page.url) : extractHtml(page.html, page.url);
  } catch (error) {
    if (!(error instanceof ExtractionLimitError)) throw error;
    throw unreadable(page.url === '' ? 'has too many or too deeply nested elements' : error.message);
  } finally {
    // Otherwise an idle thread would keep some hundred MB.
    if (page.html.length > largeHtml) giveBackMemory();
  }
}

/** Errors: as `extract`, also for binary data. */
export function readFetched(fetched: FetchedText): ReadText {
  beginTask(fetched);
  const { kind, bytes, charset } = fetched;
  const isMarkup = kind === 'html' || kind === 'xhtml';
  const { text } = decodeText(bytes, charset, isMarkup);
  if (isBinary(text)) throw notText();
  if (!isMarkup) {
    const page = kind === 'markdown' ? readMarkdown(text) : readPlainText(text);
    return redirected(fetched, '', page.text, null) ?? { page };
  }
  const html = kind === 'xhtml' ? withEndTags(text) : text;
  const page = extract({ html, url: '' });
  const wall = recognizeWall({ ...page, html });
  return redirected(fetched, html, page.text, wall) ?? (wall === null ? { page } : { wall, page });
}

function redirected({ address, refresh }: FetchedText, html: string, text: string, wall: Wall | null): ReadText | null {
  const redirect = address === undefined ? null : redirectOf({ html, text, address, wall, refresh });
  return redirect === null ? null : { redirect };
}

export interface FetchedTranscript extends CaptionsFile, Limited {
  called: TranscriptFormat | null;
}

/** A published transcript as text with sections. Errors: as `readFetched`. */
export function readPublishedTranscript(transcript: FetchedTranscript): TranscriptText {
  beginTask(transcript);
  const { bytes, charset, called, chapters } = transcript;
  const { text } = decodeText(bytes, charset, called === 'html');
  if (isBinary(text)) throw notText();
  const cues = readTranscript(text, called);
  // A whole web page with menus: only its article is the transcript.
  const isPage = called === 'html' && cues.every(({ startS, speaker }) => startS === null && speaker === null);
  if (isPage) return extract({ html: text, url: '' });
  return transcriptText(cues, chapters);
}

function notText(): Error {
  return unreadable('is not a text, although its content type says so');
}

function isBinary(text: string): boolean {
  const sample = Array.from(text.slice(0, 4096), (character) => character.charCodeAt(0));
  const odd = sample.filter((code) => code === 0xfffd || (code < 0x20 && !whiteSpace.has(code))).length;
  return odd * 10 > sample.length;
}

/** Tab, line feed, vertical tab, form feed, carriage return; escape (terminal colours). */
const whiteSpace = new Set([9, 10, 11, 12, 13, 27]);

const voidElements = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** XHTML as HTML: `<script/>` is complete in XML but open in HTML. */
function withEndTags(xhtml: string): string {
  return xhtml
    .replace(/<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi, (whole, name: string, rest: string) =>
      voidElements.has(name.toLowerCase()) ? whole : `<${name}${rest}></${name}>`,
    )
    .replace(/<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/g, '$1');
}
