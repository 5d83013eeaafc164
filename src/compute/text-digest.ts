/**
 * What of a text the tokenizer has to read. Stretches that have come before are known (stretch-memory.ts), and wink's search
 * for sentence ends (a small automaton) leaves its first state only at a full stop, an exclamation or question mark or an
 * abbreviation, which has one. So the digest of a text has, word for word, the stretches that are new, those with such a mark,
 * and what follows them up to the next word; and one stand-in word for each run of others. Its sentences end where the text's do.
 * Filled and emptied by the analyzer, over and over.
 */
import type { StretchMemory } from './stretch-memory.ts';
import { tokenizerView } from './tokenizer-view.ts';

/** Given to wink at once, in UTF-16 units, as soon as no sentence end is open: it is fastest around 4,000. */
const fullLength = 4096;
/** Given in any case. */
const longestLength = 8192;
/** Stretches behind one digest, at most. */
const maxPending = 8192;
const standIn = 'x';
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
  #isSentenceOpen = false;
  #isInRun = false;

  get isFull(): boolean {
    if (this.count === maxPending || this.#length >= longestLength) return true;
    return this.#length >= fullLength && !this.#isSentenceOpen;
  }

  clear(): void {
    this.count = 0;
    this.stretches.length = 0;
    this.places.length = 0;
    this.#length = 0;
    this.#isSentenceOpen = false;
    this.#isInRun = false;
  }

  /** Add something that the tokenizer does not see. */
  addRun(kind: typeof CHARACTERS | typeof LONG_RUN, start: number, end: number): void {
    this.#add(kind, start, end);
  }

  /** Add a stretch; `id` is UNKNOWN or its number in `memory`. */
  addStretch(memory: StretchMemory, id: number, surface: string, start: number): void {
    const hasMark = id === UNKNOWN ? hasSentenceMark(surface) : memory.hasSentenceMark(id);
    const place = this.#add(id, start, start + surface.length);
    if (id !== UNKNOWN && !hasMark && !this.#isSentenceOpen) {
      if (this.#isInRun) this.places[this.places.length - 1] = place;
      else this.#give(standIn, place);
      this.#isInRun = true;
      return;
    }
    this.#give(plainAscii.test(surface) ? surface : tokenizerView(surface).view, place);
    this.#isInRun = false;
    if (hasMark) this.#isSentenceOpen = true;
    else if (this.#isSentenceOpen) this.#isSentenceOpen = !beginsWithWord(surface);
  }

  #add(id: number, start: number, end: number): number {
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.ids[this.count] = id;
    return this.count++;
  }

  #give(stretch: string, place: number): void {
    this.stretches.push(stretch);
    this.places.push(place);
    this.#length += stretch.length + 1;
  }
}

const sentenceMark = /[.!?]/;
const wordStart = /^[\p{L}\p{N}]/u;

/** Whether the search for sentence ends may leave its first state here. */
export function hasSentenceMark(surface: string): boolean {
  return sentenceMark.test(surface);
}

function beginsWithWord(surface: string): boolean {
  return wordStart.test(surface);
}
