/**
 * Thread task: the text of a PDF, by pdf.js. Run in a pool of its own, with a time limit and a heap limit. What pdf.js unpacks lies
 * outside the heap, so the arrays that it makes are counted here: a few bytes of a PDF may unpack to gigabytes.
 *
 * No code of a PDF is run (`isEvalSupported`), no font is loaded, no picture decoded, no native module and no WebAssembly used,
 * nothing fetched: character maps come from the package's own files.
 */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ExtractedPage } from '../compute/extraction/extract-html.ts';
import { bodySize, type FlowedText, flowText, headingLetters } from '../compute/pdf/flow-text.ts';
import { type Line, type PlacedText, pageLines } from '../compute/pdf/page-lines.ts';
import { headingTitle, languageTag, pdfDate, saneAuthor, saneTitle } from '../compute/pdf/pdf-facts.ts';
import { type RepeatedLineSettings, stripRepeatedLines } from '../compute/pdf/repeated-lines.ts';
import { normalizeText } from '../domain/normalize-text.ts';
import { beginTask, type Limited, unreadable } from './thread-pool.ts';

/** Pages, and characters of text, above which a PDF is refused; pieces of text on one page that are read. */
export const maxPages = 5000;
const maxCharacters = 20_000_000;
const maxPieces = 100_000;
const maxOutline = 5000;
/** A heading further down, in characters, is not the title. */
const farthestTitle = 300;
/** Bytes of one array that pdf.js makes, and of all that it makes for one PDF: a book of 200 pages takes 60 MB. */
const largestArray = 64 * 1024 * 1024;
const allArrays = 2 * 1024 * 1024 * 1024;

export interface PdfBytes extends Limited {
  bytes: Uint8Array;
  settings: RepeatedLineSettings;
}

type PdfJs = typeof import('pdfjs-dist/legacy/build/pdf.mjs');
type PdfDocument = Awaited<ReturnType<PdfJs['getDocument']>['promise']>;

let made = 0;
/** pdf.js catches errors of its own arrays, too, and goes on without. */
let isOver = false;
const Decompression = globalThis.DecompressionStream;

/** Errors: those of `unreadable`. */
export async function readPdf(pdf: PdfBytes): Promise<ExtractedPage> {
  beginTask(pdf);
  const { bytes, settings } = pdf;
  made = 0;
  isOver = false;
  const task = pdfjs.getDocument({
    data: bytes,
    cMapUrl: join(root, 'cmaps/'),
    cMapPacked: true,
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    useWorkerFetch: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    maxImageSize: 1,
    stopAtErrors: false,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
  let content: PdfContent;
  try {
    content = await contentOf(await task.promise);
  } catch (error) {
    throw asFault(error);
  } finally {
    await task.destroy();
  }
  return assembled(content, settings);
}

interface PdfContent {
  pages: Line[][];
  /** Titles, folded. */
  outline: Set<string>;
  info: Info;
}

async function contentOf(document: PdfDocument): Promise<PdfContent> {
  const { numPages } = document;
  if (numPages > maxPages) throw tooLarge(`has over ${maxPages} pages`);
  const pages: Line[][] = [];
  let characters = 0;
  let failed = 0;
  for (let no = 1; no <= numPages; no++) {
    const pieces = await piecesOf(document, no).catch((error: unknown) => {
      if (isOver || error instanceof RangeError) throw error;
      // One bad page does not make the others unreadable.
      failed++;
      return [];
    });
    characters += pieces.reduce((sum, { text }) => sum + text.length, 0);
    if (characters > maxCharacters) throw tooLarge(`has over ${maxCharacters} characters`);
    pages.push(pageLines(pieces));
  }
  if (failed === numPages) throw unreadable(broken);
  return { pages, outline: await outlineTitles(document), info: await infoOf(document) };
}

function assembled({ pages, outline, info }: PdfContent, settings: RepeatedLineSettings): ExtractedPage {
  const kept = stripRepeatedLines(pages, settings);
  const flowed = flowText(kept, outline);
  return {
    title:
      saneTitle(info.Title) ?? saneTitle(info.xmpTitle) ?? headingTitle(kept, bodySize(kept)) ?? firstHeading(flowed),
    ...flowed,
    author: saneAuthor(info.Author),
    published_at: pdfDate(info.CreationDate),
    lang: languageTag(info.Language),
    site_name: null,
  };
}

function firstHeading({ sections }: FlowedText): string | null {
  const [first] = sections;
  const isTitle = first !== undefined && first.char_start <= farthestTitle && (first.title ?? '').includes(' ');
  return isTitle ? first.title : null;
}

async function piecesOf(document: PdfDocument, no: number): Promise<PlacedText[]> {
  const page = await document.getPage(no);
  try {
    const { items } = await page.getTextContent({ includeMarkedContent: false });
    const placed = items.slice(0, maxPieces).flatMap((item) => ('str' in item ? (placedText(item) ?? []) : []));
    return upright(placed);
  } finally {
    page.cleanup();
  }
}

interface TextItem {
  str: string;
  dir: string;
  transform: number[];
  width: number;
  fontName: string;
}

type TurnedText = PlacedText & { turn: number };

/** Where a piece stands, and by how many quarter turns it is turned to the left; null for white space. */
function placedText({ str, dir, transform, width, fontName }: TextItem): TurnedText | null {
  const text = str
    .replace(/[\p{Cc}\p{Co}]/gu, ' ')
    .replace(/[\u200b\u200e\u200f\ufeff]/g, '')
    .replace(/[ﬀ-ﬆ]/g, (ligature) => normalizeText(ligature, 'NFKC'));
  if (text.trim() === '') return null;
  const [a, b, c, d, e, f] = transform;
  const size = Math.hypot(c, d) || Math.hypot(a, b);
  if (!Number.isFinite(e + f + size + width) || size === 0) return null;
  const turn = ((Math.round(Math.atan2(b, a) / (Math.PI / 2)) % 4) + 4) % 4;
  return { text, x: e, y: f, width, size, isRightToLeft: dir === 'rtl', font: fontName, turn };
}

/** Text that is turned like most of it, upright; what is turned otherwise, such as a stamp in the margin, comes last, as if below. */
function upright(pieces: readonly TurnedText[]): PlacedText[] {
  const lengths = [0, 0, 0, 0];
  for (const { turn, text } of pieces) lengths[turn] += text.length;
  const main = lengths.indexOf(Math.max(...lengths));
  const turned = (piece: TurnedText): PlacedText => {
    const { x, y, turn } = piece;
    const at = turn === 1 ? { x: y, y: -x } : turn === 2 ? { x: -x, y: -y } : turn === 3 ? { x: -y, y: x } : { x, y };
    return { ...piece, ...at };
  };
  const straight = pieces.filter(({ turn }) => turn === main).map(turned);
  const lowest = straight.reduce((y, piece) => Math.min(y, piece.y), 0);
  const aside = pieces.filter(({ turn }) => turn !== main).map(turned);
  const highest = aside.reduce((y, piece) => Math.max(y, piece.y), 0);
  return [...straight, ...aside.map((piece) => ({ ...piece, y: piece.y - highest + lowest - 100 }))];
}

/** Titles of the outline, folded; those of a broken outline are none. */
async function outlineTitles(document: PdfDocument): Promise<Set<string>> {
  const titles = new Set<string>();
  const outline = await document.getOutline().catch(() => null);
  let level = outline ?? [];
  while (level.length > 0 && titles.size < maxOutline) {
    for (const { title } of level.slice(0, maxOutline)) {
      const folded = headingLetters(title);
      if (folded.length >= 3) titles.add(folded);
    }
    level = level.slice(0, maxOutline).flatMap(({ items }) => items);
  }
  return titles;
}

interface Info {
  Title?: unknown;
  Author?: unknown;
  CreationDate?: unknown;
  Language?: unknown;
  xmpTitle?: unknown;
}

/** Metadata that cannot be read say nothing. */
async function infoOf(document: PdfDocument): Promise<Info> {
  const metadata = await document.getMetadata().catch(() => null);
  return metadata === null ? {} : { ...(metadata.info as Info), xmpTitle: metadata.metadata?.get('dc:title') };
}

async function loadPdfJs(): Promise<{ pdfjs: PdfJs; root: string }> {
  const scope = globalThis as Record<string, unknown>;
  // What pdf.js would draw with; it only has to be there.
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) scope[name] ??= class {};
  scope.DecompressionStream = CountedDecompression;
  scope.Uint8Array = counted(Uint8Array);
  const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  return { pdfjs: await import('pdfjs-dist/legacy/build/pdf.mjs'), root };
}

/** Errors: one of `unreadable`, over the bounds and ever after. */
function count(bytes: number, ofOne: number): void {
  made += bytes;
  isOver ||= ofOne > largestArray || made > allArrays;
  if (isOver) throw tooLarge(unpacksTooMuch);
}

/** What pdf.js unpacks streams with where it can; where this fails it does so by itself. */
class CountedDecompression {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;

  constructor(format: 'deflate' | 'deflate-raw' | 'gzip') {
    const inner = new Decompression(format);
    let unpacked = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        unpacked += chunk.byteLength;
        count(chunk.byteLength, unpacked);
        controller.enqueue(chunk);
      },
    });
    this.writable = inner.writable;
    this.readable = inner.readable.pipeThrough(counter);
  }
}

function counted(array: Uint8ArrayConstructor): Uint8ArrayConstructor {
  return new Proxy(array, {
    construct(target, given: unknown[], made_by) {
      const [length] = given;
      if (typeof length === 'number') {
        count(length, length);
      }
      return Reflect.construct(target, given, made_by);
    },
  });
}

function tooLarge(reason: string): Error {
  return unreadable(`the PDF is too large: it ${reason}`);
}

const unpacksTooMuch = 'unpacks to too many bytes';
const broken = 'the PDF is broken';

/** pdf.js makes errors of its own kind of all that happens inside it, and keeps the message. */
function asFault(error: unknown): Error {
  if (error instanceof Error && typeof error.cause === 'object' && error.cause !== null && 'code' in error.cause)
    return error;
  if (error instanceof Error && error.name === 'PasswordException') return unreadable('the PDF needs a password');
  return isOver || error instanceof RangeError ? tooLarge(unpacksTooMuch) : unreadable(broken);
}

/** With the module, not in a task: Node ends the process where a thread is ended that loads a module. */
const { pdfjs, root } = await loadPdfJs();
