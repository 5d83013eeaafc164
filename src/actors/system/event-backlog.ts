/**
 * What waits for the readers of the event stream: each event once, as text, however many readers there are, and each reader's
 * place. An event is dropped when every reader has it. Pure but for the memory that it holds; no clock.
 */

/** A reader's place: the number of the next event that it has not been given. */
export interface Place {
  next: number;
}

/** Empty places at the front of the list before it is cut off. */
const cutEvery = 1024;

export class EventBacklog {
  readonly #places = new Set<Place>();
  #events: string[] = [];
  /** Number of the event at `#events[0]`. */
  #first = 0;
  /** Events at the front that every reader has. */
  #dropped = 0;
  /** UTF-16 code units of the events held. */
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Add events for all who read now. */
  append(events: readonly string[]): void {
    if (this.#places.size === 0) return;
    for (const event of events) {
      this.#events.push(event);
      this.#length += event.length;
    }
  }

  /** A new reader: it is given what is appended from now on. */
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

  /** The next events in one text of about `maxLength` or one event, empty where none wait; the reader's place moves on. */
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

  /** Pass over events that the reader has from elsewhere. */
  skip(place: Place, events: number): void {
    place.next += events;
    this.#dropRead();
  }

  /** The reader that is furthest behind. */
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
