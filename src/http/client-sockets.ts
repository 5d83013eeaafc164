/**
 * Answers the requests of a connection in order, each after the system accepted the answer before: a client that does
 * not read has one answer in memory, and at most `maxAhead` parsed requests. Unread answers of all connections are
 * limited: at the limit, those without progress for `graceMs` end, then new ones are refused with 503.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../domain/errors.ts';
import { refuseLate } from './connection-limits.ts';
import { LargeJson, pieceLength, slicesOf } from './json-answer.ts';
import type { LoopShare } from './loop-share.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Max requests of one connection that run or wait. Browsers and common clients send one. */
export const maxAhead = 16;
/** Requests dropped after the refused one. Then the connection is cut, since Node parses everything it has read. */
const maxDropped = 256;

interface Client {
  waiting: [IncomingMessage, ServerResponse][];
  isAnswering: boolean;
  /** Number of requests from the refused one on, whose answer is the last. */
  dropped: number;
  latest: IncomingMessage;
}

const clients = new WeakMap<Socket, Client>();

/** Handle the requests of a connection in order. Above `maxAhead` one is refused, and the connection ends after it. */
export function oneAtATime(handle: Handle): Handle {
  const begin = (client: Client, request: IncomingMessage, response: ServerResponse) => {
    client.isAnswering = true;
    response.once('close', () => {
      client.isAnswering = false;
      const next = client.waiting.shift();
      // Nothing begins after the last answer, because Node would not close its response.
      if (next !== undefined && request.socket.writable) begin(client, ...next);
    });
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    const client = clients.get(socket) ?? { waiting: [], isAnswering: false, dropped: 0, latest: request };
    client.latest = request;
    clients.set(socket, client);
    if (client.dropped === 0 && !client.isAnswering) begin(client, request, response);
    else if (client.dropped === 0 && client.waiting.length + 1 < maxAhead) client.waiting.push([request, response]);
    else if (client.dropped++ === 0) refuse(response);
    else if (client.dropped > maxDropped) socket.destroy();
  };
}

function refuse(response: ServerResponse): void {
  const detail = `more than ${maxAhead} requests wait for their answers on this connection`;
  const body = JSON.stringify({ detail });
  const fields = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'retry-after': '1',
    connection: 'close',
  };
  response.writeHead(503, fields).end(body);
}

/** End idle connections only after reading them. Otherwise a delay of Node would count as the client's. */
export function readBeforeTimeouts(server: Server): void {
  server.on('timeout', (socket) => {
    const { bytesRead } = socket;
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}

/** The same for a late request: calls `refuse` if the request is still incomplete after received data is read. */
export function unlessArrived(socket: Socket, refuse: () => void): void {
  const before = clients.get(socket)?.latest;
  const wasWhole = before?.complete === true;
  setImmediate(() => {
    const latest = clients.get(socket)?.latest;
    if (latest?.complete !== true || (latest === before && wasWhole)) refuse();
  });
}

export interface PaceLimits {
  /** Max UTF-16 code units of all answers together. One more answer may have any size. */
  units: number;
  /** An answer ends after this time without progress, ms. */
  stallMs: number;
  /** The same if room is needed, ms. Kernels accept megabytes at once, and then nothing for a while. */
  graceMs: number;
  /** Less than `bodyBytes` in `bodyMs` ends a body: 4 KB/s. */
  bodyMs: number;
  bodyBytes: number;
  lookEveryMs: number;
}

export const paceLimits: PaceLimits = {
  units: 64 * 1024 * 1024,
  stallMs: 30_000,
  graceMs: 5_000,
  bodyMs: 8_000,
  bodyBytes: 32 * 1024,
  lookEveryMs: 1_000,
};

/** Smaller answers are not counted: at most 60 MB on 15,000 connections. */
const uncounted = 4 * 1024;

interface OpenAnswer {
  raw: ServerResponse;
  units: number;
  movedAt: number;
}

interface OpenBody {
  raw: IncomingMessage;
  response: ServerResponse;
  /** Bytes that its socket had sent at that time. */
  bytes: number;
  movedAt: number;
}

/** Ends connections of clients that stop sending a body or reading an answer. Clock in ms. */
export class ClientPace {
  readonly limits: PaceLimits;
  readonly #monotonic: () => number;
  /** Ordered by time without progress, longest first. */
  readonly #answers = new Set<OpenAnswer>();
  readonly #bodies = new Set<OpenBody>();
  #units = 0;

  constructor(limits: PaceLimits = paceLimits, monotonic = () => performance.now()) {
    this.limits = limits;
    this.#monotonic = monotonic;
  }

  /** Count an answer until it is read or the client disconnects. Errors: DomainError `overloaded`. */
  answer(raw: ServerResponse, units: number): OpenAnswer {
    const hasRoom = () => this.#units < this.limits.units;
    this.#endUnread(this.limits.graceMs, hasRoom);
    if (!hasRoom())
      throw new DomainError('overloaded', 'too many answers are waiting for slow clients', { retryAfterS: 5 });
    const answer = { raw, units, movedAt: this.#monotonic() };
    this.#units += units;
    this.#answers.add(answer);
    const leave = () => this.#leave(answer);
    raw.once('close', leave).once('finish', leave);
    if (raw.destroyed) leave();
    return answer;
  }

  moved(answer: OpenAnswer): void {
    answer.movedAt = this.#monotonic();
    if (this.#answers.delete(answer)) this.#answers.add(answer);
  }

  /** Watch a body until it has arrived, or its request is answered. */
  body(raw: IncomingMessage, response: ServerResponse): void {
    // A tool's call of a route has no connection.
    if (raw.complete || !(raw.socket instanceof Socket)) return;
    this.#bodies.add({ raw, response, bytes: raw.socket.bytesRead, movedAt: this.#monotonic() });
  }

  /** Resolves when connections of stalled clients are ended. */
  async look(): Promise<void> {
    this.#endUnread(this.limits.stallMs, () => false);
    if (this.#bodies.size === 0) return;
    // After a delay of the process, what was received is read between timers and immediates.
    await new Promise(setImmediate);
    this.#refuseLate();
  }

  #refuseLate(): void {
    const now = this.#monotonic();
    for (const body of this.#bodies) {
      const { raw, response, bytes, movedAt } = body;
      const isWaiting = raw.readableLength > 0; // this process has not read it yet
      if (raw.complete || raw.destroyed || response.headersSent) this.#bodies.delete(body);
      else if (isWaiting || raw.socket.bytesRead - bytes >= this.limits.bodyBytes) {
        Object.assign(body, { bytes: raw.socket.bytesRead, movedAt: now });
      } else if (now - movedAt >= this.limits.bodyMs) {
        this.#bodies.delete(body);
        refuseLate(raw.socket);
      }
    }
  }

  #endUnread(ms: number, isEnough: () => boolean): void {
    const before = this.#monotonic() - ms;
    for (const answer of this.#answers) {
      if (answer.movedAt > before || isEnough()) return;
      this.#leave(answer);
      answer.raw.destroy();
    }
  }

  #leave(answer: OpenAnswer): void {
    if (this.#answers.delete(answer)) this.#units -= answer.units;
  }
}

/** Register before `boundBodies`. */
export function keepPace(app: FastifyInstance, share: LoopShare, pace: ClientPace): void {
  const look = () => pace.look().catch((error) => app.log.warn({ err: error }, 'the check for lost clients failed'));
  const looking = setInterval(look, pace.limits.lookEveryMs);
  looking.unref();
  app.addHook('onClose', async () => clearInterval(looking));

  app.addHook('preParsing', ({ raw }, reply, payload, done) => {
    pace.body(raw, reply.raw);
    done(null, payload);
  });
  app.addHook('onSend', async (_request, { raw }, payload) => {
    const isText = typeof payload === 'string';
    const units = isText ? payload.length : payload instanceof LargeJson ? payload.units : 0;
    if (units < uncounted) return payload;
    const answer = pace.answer(raw, units);
    if (isText) return units > pieceLength ? writtenAsRead(pace, answer, '', slicesOf(payload)) : payload;
    const pieces = (payload as LargeJson).pieces(share);
    const first = await pieces.next();
    // An error of the first rows can still become an error answer, and a short list gets its length.
    if (first.done || first.value.length < pieceLength) return first.value ?? '';
    return writtenAsRead(pace, answer, first.value, pieces);
  });
}

function writtenAsRead(
  pace: ClientPace,
  answer: OpenAnswer,
  first: string,
  pieces: AsyncIterable<string> | Iterable<string>,
): Readable {
  const watched = async function* () {
    if (first !== '') yield first;
    pace.moved(answer);
    for await (const piece of pieces) {
      yield piece;
      pace.moved(answer);
    }
  };
  return Readable.from(watched());
}

/** Aborted if the client disconnects before its answer is sent; `request.signal` fires once the body is read. */
export function clientSignal({ raw }: { raw: ServerResponse }): AbortSignal {
  const controller = new AbortController();
  const closed = () => {
    if (!raw.writableFinished) controller.abort();
  };
  if (raw.destroyed) closed();
  else raw.once('close', closed);
  return controller.signal;
}
