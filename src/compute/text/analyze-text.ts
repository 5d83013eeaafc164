/**
 * The single linguistic pass over a text: tokens with exact offsets, costs, words, terms and sentences. Chunking, embedding and both
 * indexes use it, and queries follow the same rules. A tokenizer (wink-nlp for texts) splits stretches and finds sentences; unspaced
 * scripts and over-long runs are handled here.
 *
 * Most stretches repeat, so their tokens are remembered. One analyzer per thread, as it owns tokenizer and memory. Any string is safe, in
 * linear time.
 */
import { ownCopy } from '../structures/longer.ts';
import { Lexicon } from './lexicon.ts';
import { porterStem } from './stemmers.ts';
import { type Token, TokenBuffer, type TokenColumns } from './token-buffer.ts';
import { longestRun, tokenizerView } from './tokenizer-view.ts';
import { eachCharacter } from './unspaced-scripts.ts';
import type { TokenizedStretches, Tokenizer } from './wink-tokenizer.ts';
import {
  createWordTerms,
  endsAroundNumbers,
  joinSignedLetters,
  type WordPart,
  withCostsOf,
  withOtherForms,
} from './word-terms.ts';

export interface AnalyzedText {
  text: string;
  /** One entry per token, in order, without white space. UTF-16 offsets. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** Share of the contract's token_count; 0 for later parts of a token such as `covid-19`. */
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

/**
 * wink never forgets a token and keeps its text alive, so it is recreated (0.2 s), with the cache of stretches, after this many of them;
 * one of 13 or more characters counts five. Bounds it to about 100 MB.
 */
const maxTokenizerLoad = 100_000;
const longStretch = 13;
/** About 20 MB. */
const maxTerms = 150_000;
/** At most 64 characters, letters and digits separate from others. */
const longRunPart = /[\p{L}\p{M}\p{N}]{1,64}|[^\p{L}\p{M}\p{N}\s]{1,64}/gu;
const sentencePunctuation = /[.!?…]["'”’)\]]*$/;
const plainAscii = /^[\x20-\x7e]*$/;
/** UTF-16 units per call of the tokenizer: wink is fastest around 4,000; up to the second number while a sentence end is open. */
const batchLength = 4096;
const longestBatch = 8192;
/** Decides whether a mark before it ended a sentence, and has none. */
const closingWord = /^[\p{L}\p{N}][^.!?]*$/u;

/** A part of a text that waits for the tokenizer, or for its turn. UTF-16 offsets. */
interface Piece {
  kind: 'stretch' | 'characters' | 'longRun';
  start: number;
  end: number;
}

const noEnds: readonly number[] = [];
const nothingRead: TokenizedStretches = { firsts: [], ends: [], sentenceEnds: [] };

/** `createTokenizer`: wink's for texts; the rule-based one for queries, which need no sentences or costs. */
export function createTextAnalyzer(createTokenizer: () => Tokenizer): TextAnalyzer {
  let lexicon = new Lexicon();
  // A word has several surfaces, and a stem costs microseconds.
  const describe = createWordTerms((word) => lexicon.stemOfWord(word) ?? porterStem(word));
  let tokenize = createTokenizer();
  let tokenizerLoad = 0;
  let memory = new Map<string, readonly Token[]>();

  function addCharacters(buffer: TokenBuffer, text: string, start: number, end: number): void {
    eachCharacter(text, { start, end }, (character) => {
      buffer.add(character.start, character.end, character.cost, lexicon.term(character.word, character.term));
      if (character.endsSentence) buffer.endSentence();
    });
  }

  function addLongRun(buffer: TokenBuffer, text: string, start: number, end: number): void {
    for (const match of text.slice(start, end).matchAll(longRunPart)) {
      const at = start + match.index;
      for (const part of describe(match[0])) {
        buffer.add(at + part.start, at + part.end, part.cost, lexicon.term(part.word, part.stem));
      }
    }
  }

  function partsBetween(surface: string, ends: readonly number[]): WordPart[] {
    return ends.flatMap((end, token) => {
      const start = token === 0 ? 0 : ends[token - 1];
      return describe(surface.slice(start, end)).map((part) => ({
        ...part,
        start: start + part.start,
        end: start + part.end,
      }));
    });
  }

  function partsOf(surface: string, ends: readonly number[]): readonly WordPart[] {
    const parts = partsBetween(surface, ends);
    const moved = endsAroundNumbers(surface, ends);
    const whole = joinSignedLetters(surface, moved === ends ? parts : withCostsOf(parts, partsBetween(surface, moved)));
    return withOtherForms(surface, whole, describe);
  }

  /** Remember the tokens of a stretch, which is cut at `ends`. */
  function learn(surface: string, ends: readonly number[]): readonly Token[] {
    const tokens = partsOf(surface, ends).map(({ start, end, cost, word, stem, others = [] }) => {
      const further = others.map((other) => lexicon.term(other.word, other.stem));
      return { start, end, cost, term: lexicon.term(word, stem, further) };
    });
    memory.set(ownCopy(surface), tokens);
    tokenizerLoad += Math.max(surface.length < longStretch ? 1 : 5, tokens.length);
    return tokens;
  }

  /** Tokenize a batch, learn new stretches, and add all tokens. Known stretches only matter for sentences. */
  function readBatch(buffer: TokenBuffer, text: string, batch: readonly Piece[], wantsSentences: boolean): void {
    const surfaceOf = ({ start, end }: Piece) => text.slice(start, end);
    const isGiven = (piece: Piece) =>
      piece.kind === 'stretch' && (wantsSentences || memory.get(surfaceOf(piece)) === undefined);
    const given = batch.filter(isGiven);
    const views = given.map((piece) => viewOf(surfaceOf(piece)));
    const read = given.length === 0 ? nothingRead : tokenize(views);
    const sentences = read.sentenceEnds.values();
    let sentence = sentences.next().value;
    let place = 0;
    for (const piece of batch) {
      if (piece.kind === 'characters') addCharacters(buffer, text, piece.start, piece.end);
      else if (piece.kind === 'longRun') addLongRun(buffer, text, piece.start, piece.end);
      else {
        const surface = surfaceOf(piece);
        const isRead = piece === given[place];
        const tokens =
          memory.get(surface) ?? learn(surface, read.ends.slice(read.firsts[place], read.firsts[place + 1]));
        let sentenceEnds = noEnds;
        if (isRead && sentence?.stretch === place) {
          const found: number[] = [];
          for (; sentence?.stretch === place; sentence = sentences.next().value) found.push(sentence.at);
          // The batch's end is a sentence end only if it looks like one.
          if (place === given.length - 1 && !sentencePunctuation.test(surface.slice(-8))) found.pop();
          sentenceEnds = found;
        }
        if (isRead) place++;
        buffer.addStretch(tokens, piece.start, sentenceEnds);
      }
    }
    if (tokenizerLoad <= maxTokenizerLoad) return;
    tokenize = createTokenizer();
    memory = new Map();
    tokenizerLoad = 0;
  }

  function tokensOf(text: string, wantsSentences: boolean): TokenColumns {
    const buffer = new TokenBuffer(findLineBorders(text));
    let batch: Piece[] = [];
    const readAll = (): void => {
      if (batch.length > 0) readBatch(buffer, text, batch, wantsSentences);
      batch = [];
    };
    const add = (kind: Piece['kind'], start: number, end: number): void => {
      batch.push({ kind, start, end });
      const length = end - batch[0].start;
      if (length >= longestBatch || (length >= batchLength && closingWord.test(text.slice(start, end)))) readAll();
    };
    const addStretch = (start: number, end: number): void =>
      add(end - start > longestRun ? 'longRun' : 'stretch', start, end);
    /** For stretches with unspaced scripts: the text between their runs are stretches too. */
    const takeApart = (start: number, end: number): void => {
      const { view, runs } = tokenizerView(text.slice(start, end));
      let next = 0;
      const addRunsBefore = (to: number): void => {
        for (; next < runs.length && runs[next].start < to; next++) {
          const run = runs[next];
          add(run.unspaced ? 'characters' : 'longRun', start + run.start, start + run.end);
        }
      };
      eachStretch(view, (from, to) => {
        addRunsBefore(from);
        addStretch(start + from, start + to);
      });
      addRunsBefore(view.length);
    };
    eachStretch(text, (start, end, isPlain) => {
      if (isPlain) addStretch(start, end);
      else takeApart(start, end);
    });
    readAll();
    return buffer.finish();
  }

  function trim(): void {
    if (lexicon.size <= maxTerms) return;
    lexicon = new Lexicon();
    memory = new Map();
  }

  return {
    get lexicon() {
      return lexicon;
    },
    analyze: (text) => withStrings({ text, ...tokensOf(text, true), lexicon }),
    trim,
    terms(text) {
      trim();
      const kept = [...tokensOf(text, false).terms].filter((term) => term !== 0);
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

/** Of equal length, as the tokenizer knows it. */
const viewOf = (surface: string): string => (plainAscii.test(surface) ? surface : tokenizerView(surface).view);

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
