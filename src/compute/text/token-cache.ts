/** Caches stretches (words with punctuation) and their parts in flat arrays, about 100 bytes each. Most repeat. */
import { longer, ownCopy } from '../structures/longer.ts';
import type { Lexicon } from './lexicon.ts';
import type { WordPart } from './word-terms.ts';

/** `markedWord`: a word and a mark; `marked`: a mark elsewhere; `word`: no mark, begins with a letter or digit. */
export type StretchForm = 'markedWord' | 'marked' | 'word' | 'other';

const FORMS: readonly StretchForm[] = ['markedWord', 'marked', 'word', 'other'];

export class TokenCache {
  readonly #ids = new Map<string, number>();
  readonly #lexicon: Lexicon;
  /** Parts of stretch i: firsts[i] .. firsts[i + 1]. */
  #firsts = new Uint32Array(1024);
  #starts = new Uint8Array(2048);
  #ends = new Uint8Array(2048);
  #costs = new Uint8Array(2048);
  #terms = new Uint32Array(2048);
  #forms = new Uint8Array(1024);

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
  }

  get size(): number {
    return this.#ids.size;
  }

  get(surface: string): number | undefined {
    return this.#ids.get(surface);
  }

  formOf(id: number): StretchForm {
    return FORMS[this.#forms[id]];
  }

  /** `surface` has at most 255 units. Returns the number of the stretch. */
  learn(surface: string, parts: readonly WordPart[], form: StretchForm): number {
    const id = this.#ids.size;
    this.#ids.set(ownCopy(surface), id);
    if (id + 2 > this.#firsts.length) {
      this.#firsts = doubled(this.#firsts);
      this.#forms = doubled(this.#forms);
    }
    this.#forms[id] = FORMS.indexOf(form);
    let at = this.#firsts[id];
    for (const { start, end, word, stem, cost, others = [] } of parts) {
      if (at === this.#terms.length) this.#growParts();
      this.#starts[at] = start;
      this.#ends[at] = end;
      this.#costs[at] = cost;
      const further = others.map((other) => this.#lexicon.term(other.word, other.stem));
      this.#terms[at] = this.#lexicon.term(word, stem, further);
      at++;
    }
    this.#firsts[id + 1] = at;
    return id;
  }

  /** `at`: position in the text; `sentenceEnds`: ascending offsets in it. */
  append(buffer: TokenBuffer, id: number, at: number, sentenceEnds: readonly number[]): void {
    let sentence = 0;
    const last = this.#firsts[id + 1];
    for (let part = this.#firsts[id]; part < last; part++) {
      const end = this.#ends[part];
      buffer.add(at + this.#starts[part], at + end, this.#costs[part], this.#terms[part]);
      if (sentence < sentenceEnds.length && end >= sentenceEnds[sentence]) {
        buffer.endSentence();
        while (end >= sentenceEnds[sentence]) sentence++;
      }
    }
  }

  #growParts(): void {
    this.#starts = doubled(this.#starts);
    this.#ends = doubled(this.#ends);
    this.#costs = doubled(this.#costs);
    this.#terms = doubled(this.#terms);
  }
}

const sentenceMark = /[.!?]/;
const markedWord = /^\p{L}[\p{L}\p{M}]*[.!?]$/u;
const wordStart = /^[\p{L}\p{N}]/u;

export function formOf(surface: string): StretchForm {
  if (markedWord.test(surface)) return 'markedWord';
  if (sentenceMark.test(surface)) return 'marked';
  return wordStart.test(surface) ? 'word' : 'other';
}

function doubled<Column extends Uint8Array | Uint32Array>(column: Column): Column {
  return longer(column, column.length * 2);
}

/** One entry per token, in order, without white space. */
export interface TokenColumns {
  /** UTF-16 offsets. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** Share of the contract's token_count; 0 for later parts of a token such as `covid-19`. */
  costs: Uint16Array;
  /** Lexicon terms; 0 for punctuation. */
  terms: Uint32Array;
  /** Per sentence the index after its last token, ascending. */
  sentenceEnds: Uint32Array;
}

const firstRoom = 2048;

/** Collects a text's tokens and sentence ends in growing arrays. */
export class TokenBuffer {
  readonly #borders: readonly number[];
  #nextBorder = 0;
  #starts: Uint32Array;
  #ends: Uint32Array;
  #costs: Uint16Array;
  #terms: Uint32Array;
  readonly #sentenceEnds: number[] = [];
  #count = 0;
  #sentenceStart = 0;

  /** `length`: UTF-16 units of the text. `borders`: ascending offsets that no sentence crosses. */
  constructor(length: number, borders: readonly number[]) {
    const room = Math.min(length, firstRoom);
    this.#starts = new Uint32Array(room);
    this.#ends = new Uint32Array(room);
    this.#costs = new Uint16Array(room);
    this.#terms = new Uint32Array(room);
    this.#borders = borders;
  }

  /** `start` is at or after the previous end. Skips empty tokens, as in `A0..b`. */
  add(start: number, end: number, cost: number, term: number): void {
    if (end <= start) return;
    if (this.#borders[this.#nextBorder] < start) {
      this.endSentence();
      while (this.#borders[this.#nextBorder] < start) this.#nextBorder++;
    }
    if (this.#count === this.#starts.length) this.#grow();
    this.#starts[this.#count] = start;
    this.#ends[this.#count] = end;
    this.#costs[this.#count] = cost;
    this.#terms[this.#count] = term;
    this.#count++;
  }

  endSentence(): void {
    if (this.#count === this.#sentenceStart) return;
    this.#sentenceEnds.push(this.#count);
    this.#sentenceStart = this.#count;
  }

  finish(): TokenColumns {
    this.endSentence();
    return {
      starts: this.#starts.slice(0, this.#count),
      ends: this.#ends.slice(0, this.#count),
      costs: this.#costs.slice(0, this.#count),
      terms: this.#terms.slice(0, this.#count),
      sentenceEnds: Uint32Array.from(this.#sentenceEnds),
    };
  }

  #grow(): void {
    const room = this.#count * 2;
    this.#starts = longer(this.#starts, room);
    this.#ends = longer(this.#ends, room);
    this.#costs = longer(this.#costs, room);
    this.#terms = longer(this.#terms, room);
  }
}
