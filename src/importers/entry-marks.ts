/** Verifies that a file was read completely: an entry that starts outside of the read ranges is lost. */

/** Max characters of a match, which the end of a piece may split. */
const maxMarkChars = 4096;

export class EntryMarks {
  readonly #pattern: RegExp;
  /** The last text. It starts with a line end, as if one preceded the file. */
  #buffer = '\n';
  #base = -1;
  #next = 1;
  #line = 0;
  /** Offsets of the marks. Plain numbers, since a large document has millions. */
  #offsets: number[] = [];
  #lines: number[] = [];
  #dealt = 0;
  /** Consecutive lost entries; `line` is the first one's, from 1. */
  readonly #lost: { line: number; count: number }[] = [];
  #isRow = false;
  /** Line of the last entry that was read, from 1; 0 if unknown. */
  line = 0;

  /** `pattern`: global; matches the start of an entry in at most 4,096 characters. */
  constructor(pattern: RegExp) {
    // A copy with its own `lastIndex`.
    this.#pattern = structuredClone(pattern);
  }

  add(piece: string): void {
    this.#buffer += piece;
    let at = 0;
    const countLines = (end: number) => {
      for (let next = this.#buffer.indexOf('\n', at); next >= 0 && next < end; next = this.#buffer.indexOf('\n', at)) {
        this.#line++;
        at = next + 1;
      }
    };
    this.#pattern.lastIndex = this.#next;
    for (let found = this.#pattern.exec(this.#buffer); found !== null; found = this.#pattern.exec(this.#buffer)) {
      countLines(found.index);
      this.#offsets.push(this.#base + found.index);
      this.#lines.push(this.#line);
      this.#next = this.#pattern.lastIndex;
    }
    const kept = Math.max(this.#next, this.#buffer.length - maxMarkChars) - 1;
    countLines(kept);
    this.#base += kept;
    this.#buffer = this.#buffer.slice(kept);
    this.#next = 1;
  }

  /** An entry was read from `start` to `end`, in characters of the file. `line` is that of an entry without a mark. */
  reached(start: number, end = start + 1, line = 0): void {
    this.#loseUpTo(start);
    this.line = this.#offsets[this.#dealt] < end ? this.#lines[this.#dealt] : line;
    while (this.#dealt < this.#offsets.length && this.#offsets[this.#dealt] < end) this.#dealt++;
    this.#isRow = false;
    if (this.#dealt < 10_000 || this.#dealt < this.#offsets.length / 2) return;
    this.#offsets = this.#offsets.slice(this.#dealt);
    this.#lines = this.#lines.slice(this.#dealt);
    this.#dealt = 0;
  }

  /** An entry was read at an unknown offset. */
  reachedNext(): void {
    this.line = this.#lines[this.#dealt] ?? 0;
    this.#dealt++;
  }

  /** Marks without an entry. Call at the end. */
  lost() {
    this.#loseUpTo(Number.POSITIVE_INFINITY);
    return this.#lost;
  }

  #loseUpTo(offset: number): void {
    for (; this.#dealt < this.#offsets.length && this.#offsets[this.#dealt] < offset; this.#dealt++) {
      if (this.#isRow) this.#lost[this.#lost.length - 1].count++;
      else this.#lost.push({ line: this.#lines[this.#dealt], count: 1 });
      this.#isRow = true;
    }
  }
}
