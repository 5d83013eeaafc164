/**
 * The tokens of a text as the recogniser sees them, from wink-nlp: with exact UTF-16 offsets, parts of speech, sentence
 * beginnings, and the dates and sums that wink finds. Parts that hang together by hyphens or digits are one token: `Osc-Dis`, `72W`.
 *
 * wink remembers every distinct token for its whole life and slows down on long runs, so texts are read in pieces, long runs
 * are passed over, and the reader is made anew (0.2 s) when it has read much. Any string is a safe input, in linear time.
 */

import type { ItemEntity } from 'wink-nlp';
import { normalizeText } from '../../domain/normalize-text.ts';
import { createWink } from '../text/wink.ts';
import { isPublicSuffix } from '../web/registered-names.ts';

export interface TextToken {
  text: string;
  lower: string;
  start: number;
  end: number;
  /** Universal part of speech. */
  pos: string;
  /** The first word of a sentence, a line or a quotation: its capital says nothing. */
  isFirst: boolean;
  isWord: boolean;
  isCapitalized: boolean;
  /** Index of its line; a cell of a table is a line by itself. */
  line: number;
}

export interface FoundValue {
  type: 'date' | 'amount';
  start: number;
  end: number;
}

export interface TokenizedText {
  tokens: TextToken[];
  values: FoundValue[];
}

/** Characters given to wink at once: it keeps all of a piece in memory, about 300 bytes a character. */
const pieceChars = 20_000;
/** Longer stretches without white space are addresses, code or data. */
const longRun = /\S{80,}/g;
/** Of shorter ones, what may be the address of a page of a site: it is, where the suffix is one of domains. From the beginning of a stretch only. */
const sitePage = /(?<!\S)\S*?[\p{L}\p{N}]\.(\p{L}{2,})\/\S*/gu;
/** Addresses with their protocol, and those of mail. The latter are looked for from the beginning of a stretch only. */
const address = /[a-z]{2,10}:\/\/\S+|(?<![^\s@])[^\s@]+@[^\s@]+\.\p{L}{2,}/giu;
/** Characters after which the reader is made anew; of distinct tokens that is at most some 50 MB. */
const maxReadChars = 5_000_000;
/** How far ahead of the last one a token is looked for, white space aside: wink rewrites a few contractions. */
const lookAhead = 40;
/** Characters of tokens that were not found, by which it is looked further, so that those behind them are. */
const mostMissed = 2000;

const word = /[\p{L}\p{N}]/u;
const capital = /^(?:\p{Lu}|al-\p{Lu}|[a-z]\p{Lu})/u;
const endsInDigit = /\p{N}$/u;
const opening = /^["“‘'([{«*•–—-]+$/;
export const looseSigns = '<>[]{}«»`';
const exactDate = /^(?=\D*\d)(?=.*?\p{L}{3})/su;

export type TextReader = (text: string) => TokenizedText;

export function createTextReader(): TextReader {
  let wink = createWink(['sbd', 'ner', 'pos']);
  let readChars = 0;

  const readPiece = (text: string, piece: string, at: number, into: TokenizedText): void => {
    const document = wink.readDoc(piece);
    const tokens = document.tokens();
    const surfaces = tokens.out();
    const parts = tokens.out(wink.its.pos) as string[];
    const starts = findStarts(piece, surfaces);
    const firsts = new Set<number>();
    for (const span of document.sentences().out(wink.its.span) as unknown as [number, number][]) firsts.add(span[0]);
    addTokens(text, piece, at, { surfaces, parts, starts, firsts }, into);
    document.entities().each((entity: ItemEntity) => {
      const type = valueType(String(entity.out(wink.its.type)), entity.out());
      const [first, last] = entity.out(wink.its.span) as unknown as [number, number];
      if (type === null || starts[first] < 0 || starts[last] < 0) return;
      into.values.push({ type, start: at + starts[first], end: at + starts[last] + surfaces[last].length });
    });
  };

  return (text) => {
    const read: TokenizedText = { tokens: [], values: [] };
    // wink cuts words at letters that Latin-1 has not.
    const readable = foldLetters(blankAddresses(text.replace(longRun, blank)));
    for (let at = 0; at < readable.length; ) {
      const end = pieceEnd(readable, at);
      readPiece(text, readable.slice(at, end), at, read);
      at = end;
    }
    read.tokens = read.tokens.flatMap(apartFromSigns);
    readChars += text.length;
    if (readChars > maxReadChars) {
      wink = createWink(['sbd', 'ner', 'pos']);
      readChars = 0;
    }
    return read;
  };
}

/** Where each token begins in the piece; -1 for white space, and for what wink rewrote. */
function findStarts(piece: string, surfaces: readonly string[]): Int32Array {
  const starts = new Int32Array(surfaces.length).fill(-1);
  const black = /\S/g;
  let from = 0;
  let missed = 0;
  for (const [i, surface] of surfaces.entries()) {
    if (surface.trim() === '') continue;
    black.lastIndex = from;
    from = black.exec(piece)?.index ?? piece.length;
    const found = piece.slice(from, from + missed + surface.length + lookAhead).indexOf(surface);
    if (found < 0) {
      missed = Math.min(missed + surface.length, mostMissed);
      continue;
    }
    starts[i] = from + found;
    from = starts[i] + surface.length;
    missed = 0;
  }
  return starts;
}

/** `Node.js/Deno` are two names: `js` is no suffix of domains. */
function blankAddresses(text: string): string {
  return text
    .replace(sitePage, (run, suffix: string) => (isPublicSuffix(suffix.toLowerCase()) ? blank(run) : run))
    .replace(address, blank);
}

function blank(run: string): string {
  return ' '.repeat(run.length);
}

/** After a line if possible, else after white space; a piece has at most `pieceChars` characters. */
function pieceEnd(text: string, at: number): number {
  if (text.length - at <= pieceChars) return text.length;
  const line = text.lastIndexOf('\n', at + pieceChars);
  if (line > at) return line + 1;
  const space = text.lastIndexOf(' ', at + pieceChars);
  return space > at ? space + 1 : at + pieceChars;
}

interface WinkTokens {
  surfaces: readonly string[];
  parts: readonly string[];
  starts: Int32Array;
  firsts: ReadonlySet<number>;
}

function addTokens(
  text: string,
  piece: string,
  at: number,
  { surfaces, parts, starts, firsts }: WinkTokens,
  { tokens }: TokenizedText,
): void {
  // The end of a line that the piece before was cut after is in no gap.
  const isCutAfterLine = tokens.length > 0 && text[at - 1] === '\n';
  let line = (tokens.at(-1)?.line ?? 0) + (isCutAfterLine ? 1 : 0);
  let pendingFirst = true;
  let lastEnd = 0;
  for (let i = 0; i < surfaces.length; i++) {
    if (starts[i] < 0) continue;
    const surface = surfaces[i];
    if (surface.trim() === '') continue;
    const gap = piece.slice(lastEnd, starts[i]);
    if (/[\n\t]/.test(gap)) {
      line++;
      pendingFirst = true;
    }
    if (firsts.has(i)) pendingFirst = true;
    lastEnd = starts[i] + surface.length;
    const isWord = word.test(surface);
    const before = tokens.at(-1);
    // By offsets in the text: the token before may be of the piece before, and a line away.
    const isNext = before?.end === at + starts[i];
    const hangsOn = before?.text.endsWith('-') ? before.text.length > 1 : endsInDigit.test(before?.text ?? '');
    if (isWord && isNext && hangsOn) {
      extend(before, text, at + lastEnd);
      continue;
    }
    if (surface === '-' && isNext && before.isWord && piece[lastEnd] !== undefined && word.test(piece[lastEnd])) {
      extend(before, text, at + lastEnd);
      continue;
    }
    const isFirst = pendingFirst;
    const whole = text.slice(at + starts[i], at + lastEnd);
    if (isWord) pendingFirst = false;
    else if (opening.test(surface) || surface === ':') pendingFirst = pendingFirst || surface !== '-';
    tokens.push({
      text: whole,
      lower: whole.toLowerCase(),
      start: at + starts[i],
      end: at + lastEnd,
      pos: parts[i],
      isFirst: isFirst && isWord,
      isWord,
      isCapitalized: false,
      line,
    });
  }
  for (let i = tokens.length - 1; i >= 0 && tokens[i].start >= at; i--) {
    tokens[i].isCapitalized = capital.test(tokens[i].text);
  }
}

/** wink leaves signs on words that it does not know: `Десятников»`. */
function apartFromSigns(token: TextToken): TextToken[] {
  const { text, start, isWord } = token;
  if (!isWord) return [token];
  let from = 0;
  let to = text.length;
  while (from < to && looseSigns.includes(text[from])) from++;
  while (to > from && looseSigns.includes(text[to - 1])) to--;
  if (from === 0 && to === text.length) return [token];
  const part = (at: number, end: number) => {
    const own = text.slice(at, end);
    return { ...token, text: own, lower: own.toLowerCase(), start: start + at, end: start + end };
  };
  const signs = { isFirst: false, isWord: false, isCapitalized: false };
  const whole = part(from, to);
  return [
    ...(from > 0 ? [{ ...part(0, from), ...signs }] : []),
    { ...whole, isFirst: token.isFirst || from > 0, isCapitalized: capital.test(whole.text) },
    ...(to < text.length ? [{ ...part(to, text.length), ...signs }] : []),
  ];
}

function extend(token: TextToken, text: string, end: number): void {
  token.end = end;
  token.text = text.slice(token.start, end);
  token.lower = token.text.toLowerCase();
}

const letter = /[\u00c0-\u024f\u1e00-\u1eff]/g;
/** Letters that do not come apart into a base and an accent. */
const plainLetters: Readonly<Record<string, string>> = {
  đ: 'd',
  Đ: 'D',
  ł: 'l',
  Ł: 'L',
  ø: 'o',
  Ø: 'O',
  ħ: 'h',
  ı: 'i',
};

/** Latin letters without their accents, each unit in its place. */
function foldLetters(text: string): string {
  return text.replace(letter, (each) => {
    const base = plainLetters[each] ?? normalizeText(each, 'NFD')[0];
    return base.length === 1 ? base : each;
  });
}

/** Only what is certain: dates with a month's name and a number, and money. */
function valueType(type: string, surface: string): FoundValue['type'] | null {
  if (type === 'MONEY') return 'amount';
  return type === 'DATE' && exactDate.test(surface) ? 'date' : null;
}
