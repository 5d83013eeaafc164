/** A subscriber of the event stream that reads it as it comes: events, and comments as events without data. */
import assert from 'node:assert/strict';

export interface StreamedEvent {
  name: string;
  data: unknown;
}

export class EventStream {
  readonly headers: Headers;
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #connection: AbortController;
  #text = '';

  private constructor(response: Response, connection: AbortController) {
    assert.ok(response.body !== null, 'a stream has a body');
    this.headers = response.headers;
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    this.#connection = connection;
  }

  /** With a token, or with these headers. Errors: an AssertionError where the stream is refused. */
  static async open(url: string, sent: string | Record<string, string>): Promise<EventStream> {
    const stream = await EventStream.openUnlessAway(url, sent);
    assert.ok(stream !== null, 'the library is open');
    return stream;
  }

  /** The same; null where the library is not open yet. */
  static async openUnlessAway(url: string, sent: string | Record<string, string>): Promise<EventStream | null> {
    const connection = new AbortController();
    const response = await fetch(`${url}/v1/events`, {
      headers: typeof sent === 'string' ? { authorization: `Bearer ${sent}` } : sent,
      signal: connection.signal,
    });
    if (response.status === 503) {
      connection.abort(); // nobody reads why
      return null;
    }
    assert.equal(response.status, 200);
    return new EventStream(response, connection);
  }

  /** The next event or comment; null at the end of the stream. */
  async next(): Promise<StreamedEvent | null> {
    let end = this.#text.indexOf('\n\n');
    while (end < 0) {
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.#text += value;
      end = this.#text.indexOf('\n\n');
    }
    const lines = this.#text.slice(0, end).split('\n');
    this.#text = this.#text.slice(end + 2);
    if (lines[0].startsWith(':')) return { name: ':', data: null };
    const [event, data, ...others] = lines;
    assert.deepEqual([event.slice(0, 7), data.slice(0, 6), others], ['event: ', 'data: ', []]);
    return { name: event.slice(7), data: JSON.parse(data.slice(6)) };
  }

  /** The next events for which this holds, up to and with the one after which `isEnough` does. */
  async until(isEnough: (events: readonly StreamedEvent[]) => boolean): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    while (!isEnough(events)) {
      const event = await this.next();
      assert.ok(event !== null, 'the stream goes on');
      if (event.name !== ':') events.push(event);
    }
    return events;
  }

  close(): void {
    this.#connection.abort();
  }
}
