/**
 * Events waiting for readers of the stream: each stored once as text, with a position per reader, and dropped when every reader has it.
 * No clock.
 */

/** Number of the reader's next event. */
export interface Place {
  next: number;
}

/** Dropped entries at the front before the list is compacted. */
const cutEvery = 1024;

export class EventBacklog {
  readonly #places = new Set<Place>();
  #events: string[] = [];
  #first = 0;
  #dropped = 0;
  /** UTF-16 code units. */
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(events: readonly string[]): void {
    if (this.#places.size === 0) return;
    for (const event of events) {
      this.#events.push(event);
      this.#length += event.length;
    }
  }

  /** Receives events appended from now on. */
  join(): Place {
    const place = { next: this.#end };
    this.#places.add(place);
    return place;
  }

  leave(place: Place): void {
    this.#places.delete(place);
    this.#dropRead();
  }

  waiting({ next }: Place): number {
    return this.#end - next;
  }

  /** The next events as text of about `maxLength` or one event; empty if none. Advances the reader. */
  take(place: Place, maxLength: number): string {
    const from = place.next - this.#first;
    let to = from;
    for (let length = 0; to < this.#events.length && (to === from || length < maxLength); to++) {
      length += this.#events[to].length;
    }
    const text = this.#events.slice(from, to).join('');
    place.next += to - from;
    this.#dropRead();
    return text;
  }

  /** Skip events that the reader already has. */
  skip(place: Place, events: number): void {
    place.next += events;
    this.#dropRead();
  }

  slowest(): Place | undefined {
    let slowest: Place | undefined;
    for (const place of this.#places) if (slowest === undefined || place.next < slowest.next) slowest = place;
    return slowest;
  }

  get #end(): number {
    return this.#first + this.#events.length;
  }

  #dropRead(): void {
    const read = (this.slowest()?.next ?? this.#end) - this.#first;
    for (; this.#dropped < read; this.#dropped++) {
      this.#length -= this.#events[this.#dropped].length;
      this.#events[this.#dropped] = '';
    }
    if (read < cutEvery && read < this.#events.length) return;
    this.#events = this.#events.slice(read);
    this.#first += read;
    this.#dropped = 0;
  }
}
