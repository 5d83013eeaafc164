/**
 * The single linguistic pass over a text: tokens with exact offsets, costs, words, terms and sentences. Chunking, embedding and both
 * indexes use it, and queries go the same way. Most stretches between white space are known and cached; unspaced scripts and over-long
 * runs are handled here. One analyzer per thread, as it owns its caches. Any string is safe, in linear time.
 */
import { Lexicon } from './lexicon.ts';
import { tokenEnds } from './rule-tokenizer.ts';
import { porterStem } from './stemmers.ts';
import { TokenBuffer, TokenCache, type TokenColumns } from './token-cache.ts';
import { blank, eachCharacter, findUnspacedRuns } from './unspaced-scripts.ts';
import { createWordTerms, curlyApostrophes, joinSignedLetters, type WordPart, withOtherForms } from './word-terms.ts';

export interface AnalyzedText {
  text: string;
  /** One entry per token, in order, without white space. UTF-16 offsets. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** Share of the contract's token_count; 0 for later parts of a token such as `node.js`. */
  costs: Uint16Array;
  /** Lexicon terms; 0 for punctuation. */
  terms: Uint32Array;
  /** Lazy; '' for punctuation. */
  readonly words: readonly string[];
  readonly stems: readonly string[];
  /** Words: lower-cased NFC surface forms. Stems: Porter stem of the folded form, or character pair. */
  lexicon: Lexicon;
  /** Per sentence the index after its last token, ascending. */
  sentenceEnds: Uint32Array;
}

export interface TextAnalyzer {
  /** Of all results since the last `trim`. */
  readonly lexicon: Lexicon;
  analyze(text: string): AnalyzedText;
  /** Start a new lexicon if the current one is large; call between tasks to bound memory. */
  trim(): void;
  /** For queries: words and stems as in `analyze`, without tokens that have neither. Trims. */
  terms(text: string): { words: string[]; stems: string[] };
}

/** Size limits of the caches of stretches and terms; about 20 MB each. */
const maxStretches = 150_000;
const maxTerms = 150_000;
/** Words, nearly all URLs and any markup are shorter. */
const longestRun = 128;
/** At most 64 characters, letters and digits separate from others. */
const longRunPart = /[\p{L}\p{M}\p{N}]{1,64}|[^\p{L}\p{M}\p{N}\s]{1,64}/gu;
const loneSurrogates = /\p{Surrogate}/gu;

export function createTextAnalyzer(): TextAnalyzer {
  let lexicon = new Lexicon();
  // A word has several surfaces, and a stem costs microseconds.
  const describe = createWordTerms((word) => lexicon.stemOfWord(word) ?? porterStem(word));
  let memory = new TokenCache(lexicon);

  function partsOf(surface: string): readonly WordPart[] {
    const ends = tokenEnds(surface.replace(curlyApostrophes, "'"));
    const parts = ends.flatMap((end, token) => {
      const start = ends[token - 1] ?? 0;
      return describe(surface.slice(start, end)).map((part) => ({
        ...part,
        start: start + part.start,
        end: start + part.end,
      }));
    });
    return withOtherForms(surface, joinSignedLetters(surface, parts), describe);
  }

  function addStretch(buffer: TokenBuffer, text: string, start: number, end: number): void {
    if (end - start > longestRun) {
      addLongRun(buffer, text, start, end);
      return;
    }
    const surface = text.slice(start, end);
    const known = memory.get(surface);
    if (known === undefined && memory.size >= maxStretches) memory = new TokenCache(lexicon);
    memory.append(buffer, known ?? memory.learn(surface, partsOf(surface)), start);
  }

  function addLongRun(buffer: TokenBuffer, text: string, start: number, end: number): void {
    buffer.beginStretch(false);
    for (const match of text.slice(start, end).matchAll(longRunPart)) {
      const at = start + match.index;
      for (const part of describe(match[0])) {
        buffer.add(at + part.start, at + part.end, part.cost, lexicon.term(part.word, part.stem));
      }
    }
  }

  function addCharacters(buffer: TokenBuffer, text: string, start: number, end: number): void {
    buffer.beginStretch(false);
    eachCharacter(text, { start, end }, (character) => {
      buffer.add(character.start, character.end, character.cost, lexicon.term(character.word, character.term));
      if (character.endsSentence) buffer.endSentence();
    });
  }

  /** A stretch with unspaced scripts: the text between their runs are stretches too. */
  function takeApart(buffer: TokenBuffer, text: string, start: number, end: number): void {
    const spaced = text.slice(start, end).replace(loneSurrogates, ' ');
    const runs = findUnspacedRuns(spaced);
    let next = 0;
    const addRunsBefore = (to: number): void => {
      for (; next < runs.length && runs[next].start < to; next++)
        addCharacters(buffer, text, start + runs[next].start, start + runs[next].end);
    };
    eachStretch(blank(spaced, runs), (from, to) => {
      addRunsBefore(from);
      addStretch(buffer, text, start + from, start + to);
    });
    addRunsBefore(end);
  }

  function tokensOf(text: string): TokenColumns {
    const buffer = new TokenBuffer(text.length, findLineBorders(text));
    eachStretch(text, (start, end, isPlain) => {
      if (isPlain) addStretch(buffer, text, start, end);
      else takeApart(buffer, text, start, end);
    });
    return buffer.finish();
  }

  function trim(): void {
    if (lexicon.size <= maxTerms) return;
    lexicon = new Lexicon();
    memory = new TokenCache(lexicon);
  }

  return {
    get lexicon() {
      return lexicon;
    },
    analyze: (text) => withStrings({ text, ...tokensOf(text), lexicon }),
    trim,
    terms(text) {
      trim();
      const kept = [...tokensOf(text).terms].filter((term) => term !== 0);
      return {
        words: kept.map((term) => lexicon.words[term]),
        stems: kept.map((term) => lexicon.stems[lexicon.stemOf[term]]),
      };
    },
  };
}

function withStrings(analyzed: Omit<AnalyzedText, 'words' | 'stems'>): AnalyzedText {
  const { terms, lexicon } = analyzed;
  let words: readonly string[] | undefined;
  let stems: readonly string[] | undefined;
  return {
    ...analyzed,
    get words() {
      words ??= Array.from(terms, (term) => lexicon.words[term]);
      return words;
    },
    get stems() {
      stems ??= Array.from(terms, (term) => lexicon.stems[lexicon.stemOf[term]]);
      return stems;
    },
  };
}

/*
 * Line ends that end a sentence without a full stop: blank lines, list items, short lines (headings, verse, tables, code). Long lines
 * count as wrapped prose.
 */

/** UTF-16 units: mail and plain text wrap at 60 to 80. */
const shortestWrappedLine = 50;
const listItem = /[\t ]*(?:[-*•‣▪·–—+]|\(?[0-9]{1,3}[.)])[\t ]/y;
const blankRest = /[\t\f\v\r ]*(?:\n|$)/y;

function findLineBorders(text: string): number[] {
  const borders: number[] = [];
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (
      at - lineStart < shortestWrappedLine ||
      startsHere(listItem, text, at + 1) ||
      startsHere(blankRest, text, at + 1)
    ) {
      borders.push(at);
    }
    lineStart = at + 1;
  }
  return borders;
}

function startsHere(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** Cheap test: true for all unspaced scripts and lone surrogates, and some others. */
function mayNeedCare(unit: number): boolean {
  return unit >= 0x0e00 && (unit < 0x1e00 || unit >= 0x2e80);
}

/** White space, control characters, and two invisible spaces. */
function separates(unit: number): boolean {
  if (unit <= 0x20) return true;
  if (unit < 0x7f) return false;
  if (unit <= 0xa0) return true;
  if (unit < 0x1680) return false;
  return (
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200b) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}

/** UTF-16 offsets, in order. `plain` is false if a stretch may contain unspaced scripts or half a character. */
function eachStretch(text: string, take: (start: number, end: number, plain: boolean) => void): void {
  let start = -1;
  let plain = true;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (separates(unit)) {
      if (start >= 0) take(start, at, plain);
      start = -1;
      plain = true;
    } else {
      if (start < 0) start = at;
      if (mayNeedCare(unit)) plain = false;
    }
  }
  if (start >= 0) take(start, text.length, plain);
}
