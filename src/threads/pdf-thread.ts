/**
 * Extracts the text of a PDF by pdf.js, in a pool with time and heap limits. pdf.js unpacks outside the heap, so its
 * arrays are counted here: a few bytes may unpack to gigabytes. No PDF code runs (`isEvalSupported`), nothing is
 * fetched, and no fonts, images, native modules or WebAssembly are loaded.
 */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ExtractedPage } from '../compute/extraction/extract-html.ts';
import { bodySize, type FlowedText, flowText, headingLetters } from '../compute/extraction/flow-text.ts';
import { type Line, type PlacedText, pageLines } from '../compute/extraction/page-lines.ts';
import { headingTitle, languageTag, pdfDate, saneAuthor, saneTitle } from '../compute/extraction/pdf-facts.ts';
import { type RepeatedLineSettings, stripRepeatedLines } from '../compute/extraction/repeated-lines.ts';
import { normalizeText } from '../domain/normalize-text.ts';
import { beginTask, type Limited, unreadable } from './thread-pool.ts';

/** Limits of a PDF: pages, characters of text, and text pieces per page. */
export const maxPages = 5000;
const maxCharacters = 20_000_000;
const maxPieces = 100_000;
const maxOutline = 5000;
const farthestTitle = 300;
/** Max bytes per array of pdf.js, and in total per PDF: a book of 200 pages takes 60 MB. */
const largestArray = 64 * 1024 * 1024;
const allArrays = 2 * 1024 * 1024 * 1024;

export interface PdfBytes extends Limited {
  bytes: Uint8Array;
  settings: RepeatedLineSettings;
}

type PdfJs = typeof import('pdfjs-dist/legacy/build/pdf.mjs');
type PdfDocument = Awaited<ReturnType<PdfJs['getDocument']>['promise']>;

let made = 0;
/** A flag, because pdf.js catches even allocation errors and continues. */
let isOver = false;
const Decompression = globalThis.DecompressionStream;

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

/** A piece's position and quarter turns to the left; null for white space. */
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

/** Rotates text by its most common turn. Text with another turn, such as a margin stamp, comes last. */
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

async function infoOf(document: PdfDocument): Promise<Info> {
  const metadata = await document.getMetadata().catch(() => null);
  return metadata === null ? {} : { ...(metadata.info as Info), xmpTitle: metadata.metadata?.get('dc:title') };
}

async function loadPdfJs(): Promise<{ pdfjs: PdfJs; root: string }> {
  const scope = globalThis as Record<string, unknown>;
  // pdf.js requires these drawing classes to exist.
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) scope[name] ??= class {};
  scope.DecompressionStream = CountedDecompression;
  scope.Uint8Array = counted(Uint8Array);
  const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  return { pdfjs: await import('pdfjs-dist/legacy/build/pdf.mjs'), root };
}

/** Errors: `unreadable` above a limit, and at every later call. */
function count(bytes: number, ofOne: number): void {
  made += bytes;
  isOver ||= ofOne > largestArray || made > allArrays;
  if (isOver) throw tooLarge(unpacksTooMuch);
}

/** pdf.js uses it to decompress streams. If it fails, pdf.js uses its own code. */
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
      if (typeof length === 'number') count(length, length);
      return Reflect.construct(target, given, made_by);
    },
  });
}

function tooLarge(reason: string): Error {
  return unreadable(`the PDF is too large: it ${reason}`);
}

const unpacksTooMuch = 'unpacks to too many bytes';
const broken = 'the PDF is broken';

/** pdf.js wraps errors and keeps only the message. */
function asFault(error: unknown): Error {
  if (error instanceof Error && typeof error.cause === 'object' && error.cause !== null && 'code' in error.cause)
    return error;
  if (error instanceof Error && error.name === 'PasswordException') return unreadable('the PDF needs a password');
  return isOver || error instanceof RangeError ? tooLarge(unpacksTooMuch) : unreadable(broken);
}

/** When the module loads, not in a task: Node crashes if a thread is ended while it loads a module. */
const { pdfjs, root } = await loadPdfJs();
