/** Thread tasks: the readable text of a page, submitted or fetched. Run in the `extract` pool, with a time limit and a heap limit. */
import { type ExtractedPage, ExtractionLimitError, extractHtml } from '../compute/extraction/extract-html.ts';
import { readMarkdown, readPlainText } from '../compute/extraction/markdown-text.ts';
import { redirectOf } from '../compute/extraction/page-redirect.ts';
import { recognizeWall, type Wall } from '../compute/extraction/recognize-wall.ts';
import { decodeText } from '../compute/text/decode-text.ts';
import { readTranscript, type TranscriptFormat } from '../compute/transcript/read-transcript.ts';
import { type Chapter, type TranscriptText, transcriptText } from '../compute/transcript/transcript-text.ts';
import { giveBackMemory } from './collect-garbage.ts';
import { beginTask, type Limited, unreadable } from './thread-pool.ts';

/** UTF-16 units; what is parsed of it takes thirty times as much, and seconds. */
const largeHtml = 1024 * 1024;

/** What a text that was fetched is written in. */
export type TextKind = 'html' | 'xhtml' | 'plain' | 'markdown';

export interface FetchedText extends Limited {
  kind: TextKind;
  bytes: Uint8Array;
  /** As the header names it. */
  charset: string | null;
  /** Where it came from; without it nothing redirects. */
  address?: string;
  /** The header `Refresh` that came with it. */
  refresh?: string | undefined;
}

/** `wall`: what was answered is no page but something in front of it; `redirect`: nor is this, the page is at that address. */
export type ReadText = { wall: Wall } | { redirect: string } | { page: ExtractedPage };

/** `url`: '' for what was fetched, whose failure names no limit and no address. Errors: those of `unreadable`, for an ExtractionLimitError. */
export function extract(page: { html: string; url: string } & Limited): ExtractedPage {
  beginTask(page);
  try {
    return extractHtml(page.html, page.url);
  } catch (error) {
    if (!(error instanceof ExtractionLimitError)) throw error;
    throw unreadable(page.url === '' ? 'has too many or too deeply nested elements' : error.message);
  } finally {
    // Else a thread that has nothing more to do keeps some hundred MB until it ends.
    if (page.html.length > largeHtml) giveBackMemory();
  }
}

/** Errors: as `extract`, also for what is no text. */
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
  return redirected(fetched, html, page.text, wall) ?? (wall === null ? { page } : { wall });
}

function redirected({ address, refresh }: FetchedText, html: string, text: string, wall: Wall | null): ReadText | null {
  const redirect = address === undefined ? null : redirectOf({ html, text, address, wall, refresh });
  return redirect === null ? null : { redirect };
}

export interface FetchedTranscript extends Limited {
  bytes: Uint8Array;
  charset: string | null;
  called: TranscriptFormat | null;
  chapters: readonly Chapter[];
}

/** A published transcript as a text with sections. Errors: as `readFetched`. */
export function readPublishedTranscript(transcript: FetchedTranscript): TranscriptText {
  beginTask(transcript);
  const { bytes, charset, called, chapters } = transcript;
  const { text } = decodeText(bytes, charset, called === 'html');
  if (isBinary(text)) throw notText();
  const cues = readTranscript(text, called);
  // A whole web page, with its menus: only what reads like an article is the transcript.
  const isPage = called === 'html' && cues.every(({ startS, speaker }) => startS === null && speaker === null);
  if (isPage) return extract({ html: text, url: '' });
  return transcriptText(cues, chapters);
}

function notText(): Error {
  return unreadable('is not a text, although it says so');
}

/** A file that only calls itself text: its beginning is full of characters that no text has. */
function isBinary(text: string): boolean {
  const sample = Array.from(text.slice(0, 4096), (character) => character.charCodeAt(0));
  const odd = sample.filter((code) => code === 0xfffd || (code < 0x20 && !whiteSpace.has(code))).length;
  return odd * 10 > sample.length;
}

/** Tab, line feed, vertical tab, form feed, carriage return; and escape, which terminals' colours begin with. */
const whiteSpace = new Set([9, 10, 11, 12, 13, 27]);

const voidElements = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** An XHTML page as HTML: `<script/>` and its like are whole elements in XML, and open ones in HTML. */
function withEndTags(xhtml: string): string {
  return xhtml
    .replace(/<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi, (whole, name: string, rest: string) =>
      voidElements.has(name.toLowerCase()) ? whole : `<${name}${rest}></${name}>`,
    )
    .replace(/<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/g, '$1');
}
