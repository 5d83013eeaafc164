/**
 * The one linguistic pass over a text: tokens with exact offsets, their cost, words, search terms, and sentences. Chunking,
 * embedding and both indexes read its result, and queries go through the same rules, so a term of a query is the term of a
 * text. wink-nlp tokenises and finds sentences; scripts without spaces and over-long runs are handled here.
 * An analyzer holds the language model (about 40 MB) and caches: one per thread. Any string is a safe input, in linear time.
 */
import { findLineBorders } from './line-borders.ts';
import { TokenBuffer } from './token-buffer.ts';
import { tokenizerView } from './tokenizer-view.ts';
import { type CharacterRun, eachCharacter } from './unspaced-scripts.ts';
import { createWinkTokenizer, winkStemmer } from './wink-tokenizer.ts';
import { createWordTerms } from './word-terms.ts';

export interface AnalyzedText {
  text: string;
  /** One entry per token occurrence, in text order; white space is no token. UTF-16 offsets into `text`. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** Each token's share of the contract's token_count; 0 for the later parts of a token such as `covid-19`. */
  costs: Uint16Array;
  /** Lower-cased NFC surface form; '' for punctuation. */
  words: string[];
  /** Porter stem of the lower-cased, accent-folded form, or pair of characters in unspaced scripts; '' for none. */
  stems: string[];
  /** For each sentence the index one past its last token, ascending. */
  sentenceEnds: Uint32Array;
}

export interface TextAnalyzer {
  analyze(text: string): AnalyzedText;
  /** Words and stems as in `analyze`, without the tokens that have neither: for queries and titles. */
  terms(text: string): { words: string[]; stems: string[] };
}

/** Text given to the tokenizer at once, in UTF-16 units: it is fastest around 4,000. */
const pieceLength = 4096;
/**
 * The tokenizer never forgets a token and keeps the piece a long one came from alive, so it is made anew (0.2 s) at this
 * load of its memory (see `WordTerms.load`). That bounds an analyzer to about 150 MB.
 */
const maxLoad = 100_000;
/** Parts of an over-long run: at most 64 characters, letters and digits apart from the rest. */
const longRunPart = /[\p{L}\p{M}\p{N}]{1,64}|[^\p{L}\p{M}\p{N}\s]{1,64}/gu;
const sentencePunctuation = /[.!?…]["'”’)\]]*$/;

/** Make an analyzer. Errors: throws if the installed language model is not the expected one. */
export function createTextAnalyzer(): TextAnalyzer {
  let tokenize = createWinkTokenizer();
  const terms = createWordTerms(winkStemmer());

  function addCharacters(buffer: TokenBuffer, text: string, run: CharacterRun): void {
    eachCharacter(text, run, ({ start, end, word, term, endsSentence }) => {
      buffer.add(start, end, 1, word, term);
      if (endsSentence) buffer.endSentence();
    });
  }

  function addLongRun(buffer: TokenBuffer, text: string, run: CharacterRun): void {
    for (const match of text.slice(run.start, run.end).matchAll(longRunPart)) {
      addWord(buffer, run.start + match.index, terms.describe(match[0]));
    }
  }

  function addWord(buffer: TokenBuffer, at: number, parts: ReturnType<typeof terms.describe>): void {
    for (const part of parts) buffer.add(at + part.start, at + part.end, part.cost, part.word, part.stem);
  }

  function addPiece(
    buffer: TokenBuffer,
    text: string,
    from: number,
    piece: string,
    addRunsBefore: (to: number) => void,
  ) {
    if (terms.load > maxLoad) {
      terms.clear();
      tokenize = createWinkTokenizer();
    }
    const { starts, ends, sentenceLasts } = tokenize(piece);
    let sentence = 0;
    for (let i = 0; i < starts.length; i++) {
      const at = from + starts[i];
      addRunsBefore(at);
      addWord(buffer, at, terms.partsOf(text.slice(at, from + ends[i])));
      if (i !== sentenceLasts[sentence]) continue;
      sentence++;
      // The end of a piece is a sentence's end only where it looks like one.
      if (i < starts.length - 1 || sentencePunctuation.test(piece.slice(0, ends[i]).slice(-4))) buffer.endSentence();
    }
  }

  function analyze(text: string): AnalyzedText {
    const { view, runs } = tokenizerView(text);
    const buffer = new TokenBuffer(findLineBorders(text));
    let nextRun = 0;
    const addRunsBefore = (to: number): void => {
      for (; nextRun < runs.length && runs[nextRun].start < to; nextRun++) {
        if (runs[nextRun].unspaced) addCharacters(buffer, text, runs[nextRun]);
        else addLongRun(buffer, text, runs[nextRun]);
      }
    };
    for (let from = 0, to = 0; from < view.length; from = to) {
      to = pieceEnd(view, from);
      addPiece(buffer, text, from, flatCopy(view.slice(from, to)), addRunsBefore);
      addRunsBefore(to);
    }
    return { text, ...buffer.finish() };
  }

  return {
    analyze,
    terms(text) {
      const { words, stems } = analyze(text);
      const kept = words.map((_, i) => i).filter((i) => words[i] !== '' || stems[i] !== '');
      return { words: kept.map((i) => words[i]), stems: kept.map((i) => stems[i]) };
    },
  };
}

/** Where the piece that begins at `from` ends: after a sentence if there is one in its second half, else after a space. */
function pieceEnd(view: string, from: number): number {
  const limit = from + pieceLength;
  if (limit >= view.length) return view.length;
  const window = view.slice(from, limit);
  const fullStop = window.lastIndexOf('. ');
  if (fullStop > pieceLength / 2) return from + fullStop + 2;
  const space = window.lastIndexOf(' ');
  return space > 0 ? from + space + 1 : limit;
}

/** A copy that shares no memory with the whole text, which would otherwise live as long as any token cut from it. */
function flatCopy(piece: string): string {
  const encoding = latin1.test(piece) ? 'latin1' : 'utf16le';
  return Buffer.from(piece, encoding).toString(encoding);
}
const latin1 = /^[\0-\xff]*$/;
