/** Collects a text's tokens and sentence ends in growing arrays. */
import { longer } from '../structures/longer.ts';

export interface TokenColumns {
  starts: Uint32Array;
  ends: Uint32Array;
  costs: Uint16Array;
  terms: Uint32Array;
  sentenceEnds: Uint32Array;
}

const firstRoom = 2048;

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
