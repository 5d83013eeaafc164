/**
 * The only linguistic pass over a text: tokens with offsets, costs, words, terms and sentences, for chunks, vectors and
 * both indexes; queries follow the same rules. wink-nlp splits stretches and finds sentences of texts; unspaced scripts
 * and long runs are handled here. Most stretches are cached, so the tokenizer reads a digest (text-digest.ts).
 * One analyzer per thread. Any string is safe, in linear time.
 */
import { Lexicon } from './lexicon.ts';
import { eachCharacter } from './scripts.ts';
import { porterStem } from './stemmers.ts';
import { CHARACTERS, LONG_RUN, TextDigest, UNKNOWN } from './text-digest.ts';
import { formOf, TokenBuffer, TokenCache, type TokenColumns } from './token-cache.ts';
import { longestRun, tokenizerView } from './tokenizer-view.ts';
import type { TokenizedStretches, Tokenizer } from './wink-tokenizer.ts';
import {
  createWordTerms,
  endsAroundNumbers,
  joinSignedLetters,
  type WordPart,
  withCostsOf,
  withOtherForms,
} from './word-terms.ts';

export interface AnalyzedText extends TokenColumns {
  text: string;
  /** Computed on first use; '' for punctuation. */
  readonly words: readonly string[];
  readonly stems: readonly string[];
  /** Words: lower-cased NFC surface forms. Stems: Porter stem of the folded form, or character pair. */
  lexicon: Lexicon;
}

export interface TextAnalyzer {
  /** Shared by all results since the last `trim`. */
  readonly lexicon: Lexicon;
  analyze(text: string): AnalyzedText;
  /** Start a new lexicon if the current one is large; call between tasks to bound memory. */
  trim(): void;
  /** For queries: words and stems as in `analyze`, without tokens that have neither. Trims. */
  terms(text: string): { words: string[]; stems: string[] };
}

/** wink stores every token, so it is created again (0.2 s) after so many stretches, at 100 MB. Long ones count five. */
const maxTokenizerLoad = 100_000;
const longStretch = 13;
/** Size limits of the caches of stretches and terms; about 20 MB each. */
const maxStretches = 150_000;
const maxTerms = 150_000;
/** At most 64 characters, letters and digits separate from others. */
const longRunPart = /[\p{L}\p{M}\p{N}]{1,64}|[^\p{L}\p{M}\p{N}\s]{1,64}/gu;
const sentencePunctuation = /[.!?…]["'”’)\]]*$/;

const noEnds: readonly number[] = [];
const nothingRead: TokenizedStretches = { firsts: [], ends: [], sentenceEnds: [] };

/** `createTokenizer`: wink's for texts; the rule-based one for queries, which need no sentences or costs. */
export function createTextAnalyzer(createTokenizer: () => Tokenizer): TextAnalyzer {
  const digest = new TextDigest();
  let lexicon = new Lexicon();
  // A word has several surfaces, and stemming takes microseconds.
  const describe = createWordTerms((word) => lexicon.stemOfWord(word) ?? porterStem(word));
  let tokenize = createTokenizer();
  let tokenizerLoad = 0;
  let memory = new TokenCache(lexicon);

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

  /** Number of a new stretch that does not need the tokenizer, or UNKNOWN. */
  function learnPlain(surface: string): number {
    const tokenEnds = plainTokenEnds(surface);
    return tokenEnds === null ? UNKNOWN : memory.learn(surface, partsOf(surface, tokenEnds), formOf(surface));
  }

  /** Tokenizes the digest, learns new stretches, adds all waiting tokens. Sentence ends need known stretches, too. */
  function readDigest(buffer: TokenBuffer, text: string, wantsSentences: boolean): void {
    const { places, starts, ends, ids } = digest;
    const read = wantsSentences || digest.hasUnknown ? tokenize(digest.stretches) : nothingRead;
    const sentences = read.sentenceEnds.values();
    let sentence = sentences.next().value;
    let given = 0;
    for (let i = 0; i < digest.count; i++) {
      let id = ids[i];
      if (id === CHARACTERS) addCharacters(buffer, text, starts[i], ends[i]);
      else if (id === LONG_RUN) addLongRun(buffer, text, starts[i], ends[i]);
      else {
        let sentenceEnds = noEnds;
        if (places[given] === i) {
          if (id === UNKNOWN) {
            const surface = text.slice(starts[i], ends[i]);
            const tokenEnds = read.ends.slice(read.firsts[given], read.firsts[given + 1]);
            const form = formOf(surface);
            // An abbreviation is one token with its full stop.
            const isWhole = form === 'markedWord' && tokenEnds.length !== 2;
            id = memory.get(surface) ?? memory.learn(surface, partsOf(surface, tokenEnds), isWhole ? 'marked' : form);
            tokenizerLoad += surface.length < longStretch ? 1 : 5;
          }
          if (sentence?.stretch === given) {
            const found: number[] = [];
            for (; sentence?.stretch === given; sentence = sentences.next().value) {
              // The stand-in may have another length than the stretch.
              const isAtEnd = sentence.at === digest.stretches[given].length;
              found.push(isAtEnd ? ends[i] - starts[i] : sentence.at);
            }
            // The end of the digest ends a sentence only if it looks like one.
            const isLast = given === places.length - 1;
            if (isLast && !sentencePunctuation.test(text.slice(Math.max(starts[i], ends[i] - 8), ends[i]))) found.pop();
            sentenceEnds = found;
          }
          given++;
        }
        memory.append(buffer, id, starts[i], sentenceEnds);
      }
    }
    digest.clear();
    if (tokenizerLoad > maxTokenizerLoad) {
      tokenize = createTokenizer();
      tokenizerLoad = 0;
    }
    if (memory.size > maxStretches) memory = new TokenCache(lexicon);
  }

  function tokensOf(text: string, wantsSentences: boolean): TokenColumns {
    digest.clear();
    const buffer = new TokenBuffer(text.length, findLineBorders(text));
    const readIfFull = (): void => {
      if (digest.isFull) readDigest(buffer, text, wantsSentences);
    };
    const addStretch = (start: number, end: number): void => {
      if (end - start > longestRun) digest.addRun(LONG_RUN, start, end);
      else {
        const surface = text.slice(start, end);
        digest.addStretch(memory, memory.get(surface) ?? learnPlain(surface), surface, start);
      }
      readIfFull();
    };
    /** For stretches with unspaced scripts: the text between their runs becomes stretches, too. */
    const takeApart = (start: number, end: number): void => {
      const { view, runs } = tokenizerView(text.slice(start, end));
      let next = 0;
      const addRunsBefore = (to: number): void => {
        for (; next < runs.length && runs[next].start < to; next++) {
          const run = runs[next];
          digest.addRun(run.unspaced ? CHARACTERS : LONG_RUN, start + run.start, start + run.end);
          readIfFull();
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
    if (digest.count > 0) readDigest(buffer, text, wantsSentences);
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

/* Line ends that end a sentence: blank lines, list items, short lines. Longer lines are treated as wrapped prose. */

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

/**
 * Stretches that do not need the tokenizer, which takes microseconds each: a word or number with at most one mark on
 * either side. Most new ones are of this kind. A test compares the results with wink-nlp's.
 */
const plainWord = /^[("“[]?\p{L}[\p{L}\p{M}]*[,;:)\]"”]?$/u;
const plainNumber = /^[0-9]+[,;]?$/;
const mark = /[,;:)\]("“”[]/;
/** wink splits short words that look like contractions: `cannot`, `dont`, `therell`. */
const mayBeContraction = /(?:nt|ve|ll|re|not|iam)$/i;
const longestContraction = 8;

/** Token ends of a stretch, or null to ask the tokenizer. */
export function plainTokenEnds(stretch: string): number[] | null {
  if (!plainWord.test(stretch) && !plainNumber.test(stretch)) return null;
  const { length } = stretch;
  const hasMarkBefore = mark.test(stretch[0]);
  if (mark.test(stretch[length - 1])) return hasMarkBefore ? null : [length - 1, length];
  if (length <= longestContraction + 1 && mayBeContraction.test(stretch)) return null;
  return hasMarkBefore ? [1, length] : [length];
}

/** Cheap test: true for all unspaced scripts and lone surrogates, and for some other text. */
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

/** Calls `take` in order with UTF-16 offsets. `plain`: surely without unspaced scripts and halves of characters. */
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
