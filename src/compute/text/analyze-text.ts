/**
 * The one linguistic pass over a text: tokens with exact offsets, their cost, words, search terms, and sentences. Chunking,
 * embedding and both indexes read its result, and queries go through the same rules, so a term of a query is the term of a
 * text. A tokenizer, wink-nlp's for texts, takes stretches apart and finds sentences; scripts without spaces and over-long runs are handled here.
 *
 * Most stretches of a text have come before, and what they consist of is remembered. So the tokenizer is not given the text but a
 * digest of it (text-digest.ts).
 *
 * An analyzer holds its tokenizer and caches: one per thread. Any string is a safe input, in linear time.
 */
import { Lexicon } from './lexicon.ts';
import { findLineBorders } from './line-borders.ts';
import { plainTokenEnds } from './plain-stretch.ts';
import { porterStem } from './stemmers.ts';
import { CHARACTERS, LONG_RUN, TextDigest, UNKNOWN } from './text-digest.ts';
import { TokenBuffer, type TokenColumns } from './token-buffer.ts';
import { formOf, TokenCache } from './token-cache.ts';
import { longestRun, tokenizerView } from './tokenizer-view.ts';
import { eachCharacter } from './unspaced-scripts.ts';
import type { TokenizedStretches, Tokenizer } from './wink-tokenizer.ts';
import { eachStretch } from './word-stretches.ts';
import { createWordTerms, endsAroundNumbers, joinSignedLetters, type WordPart, withCostsOf } from './word-terms.ts';

export interface AnalyzedText {
  text: string;
  /** One entry per token occurrence, in text order; white space is no token. UTF-16 offsets into `text`. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** Each token's share of the contract's token_count; 0 for the later parts of a token such as `covid-19`. */
  costs: Uint16Array;
  /** Each token's term in the lexicon; 0 for punctuation. */
  terms: Uint32Array;
  /** The terms as strings, made when they are first asked for; '' for punctuation. */
  readonly words: readonly string[];
  readonly stems: readonly string[];
  /** Words: lower-cased NFC surface forms. Stems: Porter stem of the accent-folded form, or pair of characters in unspaced scripts. */
  lexicon: Lexicon;
  /** For each sentence the index one past its last token, ascending. */
  sentenceEnds: Uint32Array;
}

export interface TextAnalyzer {
  /** Of all results since the last `trim`. */
  readonly lexicon: Lexicon;
  analyze(text: string): AnalyzedText;
  /** Begin a new lexicon if the present one has grown large: to be called between two pieces of work, or memory grows. */
  trim(): void;
  /** Words and stems as in `analyze`, without the tokens that have neither: for queries. Tidies. */
  terms(text: string): { words: string[]; stems: string[] };
}

/**
 * The tokenizer never forgets a token and keeps the digest a long one came from alive, so it is made anew (0.2 s) when it has
 * been given so many new stretches, one of 13 characters or more counting five. That bounds it to about 100 MB.
 */
const maxTokenizerLoad = 100_000;
const longStretch = 13;
/** Stretches, and terms of a lexicon, at which a new memory is begun; about 20 MB each. */
const maxStretches = 150_000;
const maxTerms = 150_000;
/** Parts of an over-long run: at most 64 characters, letters and digits apart from the rest. */
const longRunPart = /[\p{L}\p{M}\p{N}]{1,64}|[^\p{L}\p{M}\p{N}\s]{1,64}/gu;
const sentencePunctuation = /[.!?…]["'”’)\]]*$/;

const noEnds: readonly number[] = [];
const nothingRead: TokenizedStretches = { firsts: [], ends: [], sentenceEnds: [] };

/**
 * Make an analyzer. `createTokenizer`: wink's for texts; the one by rules is enough for queries, which are not asked for their sentences
 * or for what their tokens cost.
 */
export function createTextAnalyzer(createTokenizer: () => Tokenizer): TextAnalyzer {
  const digest = new TextDigest();
  let lexicon = new Lexicon();
  // A word comes in several surfaces, and a stem costs microseconds.
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

  /** The parts of a stretch whose tokens end at `ends`. They cost what the tokens do. */
  function partsOf(surface: string, ends: readonly number[]): readonly WordPart[] {
    const parts = partsBetween(surface, ends);
    const moved = endsAroundNumbers(surface, ends);
    return joinSignedLetters(surface, moved === ends ? parts : withCostsOf(parts, partsBetween(surface, moved)));
  }

  /** The number of a new stretch that needs no tokenizer, or UNKNOWN. */
  function learnPlain(surface: string): number {
    const tokenEnds = plainTokenEnds(surface);
    return tokenEnds === null ? UNKNOWN : memory.learn(surface, partsOf(surface, tokenEnds), formOf(surface));
  }

  /** Have the digest read, learn what is new, and add the tokens of all that waited for it. Known stretches are read for sentences only. */
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
              // What stands for the stretch may be of another length.
              const isAtEnd = sentence.at === digest.stretches[given].length;
              found.push(isAtEnd ? ends[i] - starts[i] : sentence.at);
            }
            // The end of a digest is a sentence's end only where it looks like one.
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
    /** A stretch with characters of unspaced scripts: what is between their runs are stretches, too. */
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
