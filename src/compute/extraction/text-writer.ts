/** Joins text pieces with white space: none at the ends, at most one blank line, preformatted text as is. Offsets refer to the final text. */

/** In rising strength. */
const separators = ['', ' ', '\t', '\n', '\n\n'];
const space = 1;
const cell = 2;
const line = 3;
const paragraph = 4;

export interface TextMark {
  /** Offset of the next piece in the final text. */
  offset: number;
  /** Length of the separator and item marker before it. */
  lead: number;
  part: number;
}

export class TextWriter {
  readonly #parts: string[] = [];
  #length = 0;
  #pending = 0;
  /** White space of preformatted text since the last piece. */
  #held = '';
  #marker = '';

  /** Collapses white space. */
  write(data: string): void {
    const core = data.trim();
    if (core === '') {
      if (data !== '') this.#raise(space);
      return;
    }
    if (data[0].trim() === '') this.#raise(space);
    this.#push(core.replace(/\s+/g, ' '));
    if (data[data.length - 1].trim() === '') this.#raise(space);
  }

  /** Keeps white space. */
  writePreformatted(data: string): void {
    const core = data.trim();
    if (core === '') {
      this.#held += data;
      return;
    }
    const at = data.indexOf(core);
    this.#held += data.slice(0, at);
    this.#push(core);
    this.#held = data.slice(at + core.length);
  }

  /** Two of them make a paragraph. */
  breakLine(): void {
    this.#raise(this.#pending >= line ? paragraph : line);
  }

  newCell(): void {
    this.#raise(cell);
  }

  newLine(): void {
    this.#raise(line);
  }

  newParagraph(): void {
    this.#raise(paragraph);
  }

  /** Put `marker` before the next piece, unless the item ends first. */
  startItem(marker: string): void {
    this.#marker = marker;
  }

  endItem(): void {
    this.#marker = '';
  }

  mark(): TextMark {
    const lead = this.#separator().length + this.#marker.length;
    return { offset: this.#length + lead, lead, part: this.#parts.length };
  }

  /** On one line. */
  since(mark: TextMark): string {
    return this.#parts.slice(mark.part).join('').slice(mark.lead).replace(/\s+/g, ' ');
  }

  text(): string {
    return this.#parts.join('');
  }

  #raise(separator: number): void {
    this.#pending = Math.max(this.#pending, separator);
  }

  #separator(): string {
    if (this.#length === 0) return '';
    if (this.#held === '') return separators[this.#pending];
    const indent = this.#held.slice(this.#held.lastIndexOf('\n') + 1);
    return this.#pending >= line ? separators[this.#pending] + indent : this.#held;
  }

  #push(core: string): void {
    const separator = this.#separator();
    if (separator !== '') this.#parts.push(separator);
    if (this.#marker !== '') this.#parts.push(this.#marker);
    this.#parts.push(core);
    this.#length += separator.length + this.#marker.length + core.length;
    this.#pending = 0;
    this.#held = '';
    this.#marker = '';
  }
}
