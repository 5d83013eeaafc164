/**
 * What of a text the tokenizer has to read. Stretches that have come before are known (token-cache.ts), and wink's search
 * for sentence ends (a small automaton) leaves its first state only at a full stop, an exclamation or question mark or an
 * abbreviation, which has one; what follows matters up to the next word, and which word that is only after an abbreviation, if
 * it is capitalised. So in the digest of a text a run of known stretches without such a mark is one stand-in word, a known
 * word with a mark is the stand-in with that mark, and only the rest is there letter for letter: new stretches that are not
 * plain, unusual ones that have a mark, and what follows these. Its sentences end where the text's do.
 * Filled and emptied by the analyzer, over and over.
 */
import { formOf, type StretchForm, type TokenCache } from './token-cache.ts';
import { tokenizerView } from './tokenizer-view.ts';

/** Given to wink at once, in UTF-16 units, as soon as no sentence end is open: it is fastest around 4,000. */
const fullLength = 4096;
/** Given in any case. */
const longestLength = 8192;
/** Stretches behind one digest, at most. */
const maxPending = 8192;
/** A word that wink knows, and which with a full stop is no abbreviation. */
const standIn = 'word';
const plainAscii = /^[\x20-\x7e]*$/;

/** In place of the number of a stretch. */
export const UNKNOWN = -1;
export const CHARACTERS = -2;
export const LONG_RUN = -3;

export class TextDigest {
  /** What waits for the digest to be read, in text order: offsets in the text, and the stretch's number or what it is instead. */
  readonly starts = new Uint32Array(maxPending);
  readonly ends = new Uint32Array(maxPending);
  readonly ids = new Int32Array(maxPending);
  count = 0;
  /** For the tokenizer: the stretches of the digest, and what waits for each; for a stand-in the last of its run. */
  readonly stretches: string[] = [];
  readonly places: number[] = [];
  #length = 0;
  /** Set after a mark, up to the next word. */
  #opened: 'no' | 'byWord' | 'byOther' = 'no';
  #isInRun = false;

  get isFull(): boolean {
    if (this.count === maxPending || this.#length >= longestLength) return true;
    return this.#length >= fullLength && this.#opened === 'no';
  }

  /** Whether a stretch waits that is to be learnt. */
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

  /** Add something that the tokenizer does not see. */
  addRun(kind: typeof CHARACTERS | typeof LONG_RUN, start: number, end: number): void {
    this.#add(kind, start, end);
  }

  /** Add a stretch; `id` is UNKNOWN or its number in `memory`. */
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

  /** Whether a known stretch after a mark is like any word for the search for sentence ends. */
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
