/** Collects a text's tokens and sentence ends. */
import { longer } from '../structures/longer.ts';

/** Offsets in the text, or from the start of the stretch that it is part of. */
export interface Token {
  start: number;
  end: number;
  cost: number;
  term: number;
}

export interface TokenColumns {
  starts: Uint32Array;
  ends: Uint32Array;
  costs: Uint16Array;
  terms: Uint32Array;
  sentenceEnds: Uint32Array;
}

/** Numbers of a token. */
const width = 4;

export class TokenBuffer {
  readonly #borders: readonly number[];
  #nextBorder = 0;
  /** Start, end, cost and term of each token, as a large text has millions. */
  #numbers = new Uint32Array(width * 1024);
  #count = 0;
  readonly #sentenceEnds: number[] = [];
  #sentenceStart = 0;

  /** `borders`: ascending offsets that no sentence crosses. */
  constructor(borders: readonly number[]) {
    this.#borders = borders;
  }

  /** `start` is at or after the previous end. Skips empty tokens, as in `A0..b`. */
  add(start: number, end: number, cost: number, term: number): void {
    if (end <= start) return;
    if (this.#borders[this.#nextBorder] < start) {
      this.endSentence();
      while (this.#borders[this.#nextBorder] < start) this.#nextBorder++;
    }
    const at = width * this.#count;
    if (at === this.#numbers.length) this.#numbers = longer(this.#numbers, 2 * at);
    this.#numbers[at] = start;
    this.#numbers[at + 1] = end;
    this.#numbers[at + 2] = cost;
    this.#numbers[at + 3] = term;
    this.#count++;
  }

  /** Add the tokens of a stretch at `at`. `sentenceEnds`: ascending offsets in it. */
  addStretch(tokens: readonly Token[], at: number, sentenceEnds: readonly number[]): void {
    let sentence = 0;
    for (const { start, end, cost, term } of tokens) {
      this.add(at + start, at + end, cost, term);
      if (sentence < sentenceEnds.length && end >= sentenceEnds[sentence]) {
        this.endSentence();
        while (end >= sentenceEnds[sentence]) sentence++;
      }
    }
  }

  endSentence(): void {
    if (this.#count === this.#sentenceStart) return;
    this.#sentenceEnds.push(this.#count);
    this.#sentenceStart = this.#count;
  }

  finish(): TokenColumns {
    this.endSentence();
    const numbers = this.#numbers;
    const column = (place: number) => (_: unknown, token: number) => numbers[width * token + place];
    const tokens = { length: this.#count };
    return {
      starts: Uint32Array.from(tokens, column(0)),
      ends: Uint32Array.from(tokens, column(1)),
      costs: Uint16Array.from(tokens, column(2)),
      terms: Uint32Array.from(tokens, column(3)),
      sentenceEnds: Uint32Array.from(this.#sentenceEnds),
    };
  }
}
