/**
 * The part of a text that the tokenizer must read; known stretches are cached (token-cache.ts). wink's sentence finder
 * changes state only at `.`, `!` or `?`. Then the next word matters and, after an abbreviation, its capital. So a run
 * of known stretches without these marks becomes one stand-in word, and a known word with a mark the stand-in with the
 * mark. Others, and those after a mark, are verbatim. Sentences end at the same places.
 */
import { formOf, type StretchForm, type TokenCache } from './token-cache.ts';
import { tokenizerView } from './tokenizer-view.ts';

/** UTF-16 units per call of wink while no sentence end is open: fastest around 4,000. */
const fullLength = 4096;
const longestLength = 8192;
const maxPending = 8192;
/** A word that wink knows and that is not an abbreviation with a full stop. */
const standIn = 'word';
const plainAscii = /^[\x20-\x7e]*$/;

/** Used instead of a stretch's number. */
export const UNKNOWN = -1;
export const CHARACTERS = -2;
export const LONG_RUN = -3;

export class TextDigest {
  /** Waiting entries in text order: offsets, and the stretch's number or kind. */
  readonly starts = new Uint32Array(maxPending);
  readonly ends = new Uint32Array(maxPending);
  readonly ids = new Int32Array(maxPending);
  count = 0;
  /** The digest's stretches and, for each, its entry; for a stand-in, the last entry of its run. */
  readonly stretches: string[] = [];
  readonly places: number[] = [];
  #length = 0;
  /** State after a mark, until the next word. */
  #opened: 'no' | 'byWord' | 'byOther' = 'no';
  #isInRun = false;

  get isFull(): boolean {
    if (this.count === maxPending || this.#length >= longestLength) return true;
    return this.#length >= fullLength && this.#opened === 'no';
  }

  get hasUnknown(): boolean {
    return this.ids.subarray(0, this.count).includes(UNKNOWN);
  }

  clear(): void {
    this.count = 0;
    this.stretches.length = 0;
    this.places.length = 0;
    this.#length = 0;
    this.#opened = 'no';
    this.#isInRun = false;
  }

  addRun(kind: typeof CHARACTERS | typeof LONG_RUN, start: number, end: number): void {
    this.#add(kind, start, end);
  }

  /** `id`: UNKNOWN or its number in `memory`. */
  addStretch(memory: TokenCache, id: number, surface: string, start: number): void {
    const place = this.#add(id, start, start + surface.length);
    const form = id === UNKNOWN ? formOf(surface) : memory.formOf(id);
    const isKnown = id !== UNKNOWN;
    if (isKnown && form === 'markedWord' && this.#opened !== 'byOther') {
      this.#give(standIn + surface[surface.length - 1], place);
      this.#opened = 'byWord';
    } else if (isKnown && (this.#opened === 'no' ? form !== 'marked' : this.#isOrdinaryAfterMark(form, surface))) {
      if (this.#isInRun) this.places[this.places.length - 1] = place;
      else this.#give(standIn, place);
      this.#isInRun = true;
      this.#opened = 'no';
    } else {
      this.#give(plainAscii.test(surface) ? surface : tokenizerView(surface).view, place);
      if (form === 'markedWord' || form === 'marked') this.#opened = 'byOther';
      else if (form === 'word') this.#opened = 'no';
    }
  }

  /** Whether a known stretch after a mark acts like any word in sentence detection. */
  #isOrdinaryAfterMark(form: StretchForm, surface: string): boolean {
    return form === 'word' && (this.#opened === 'byWord' || !capital.test(surface));
  }

  #add(id: number, start: number, end: number): number {
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.ids[this.count] = id;
    return this.count++;
  }

  #give(stretch: string, place: number): void {
    this.#isInRun = false;
    this.stretches.push(stretch);
    this.places.push(place);
    this.#length += stretch.length + 1;
  }
}

const capital = /^\p{Lu}/u;
