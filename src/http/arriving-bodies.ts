/** Bounds the memory of arriving bodies over all connections. Pieces count: 16 MB in one-byte pieces took 6 GB. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { BodyRoom } from '../compute/structures/body-room.ts';

/** Max bytes of all bodies: two batches of the maximum size. One more body may have any size that its route allows. */
const bodyRoom = 128 * 1024 * 1024;
/** Max bytes for routes that do not write, so that they never block page submissions. */
const readingRoom = 16 * 1024 * 1024;
/** Announced bodies up to this size are not counted: at most 120 MB on 15,000 connections. */
const uncounted = 8 * 1024;

const pieceBytes = 256;
/** Beyond this number of pieces, their mean size must reach `minMeanBytes`. */
const maxSmallPieces = 1024;
const minMeanBytes = 64;

const isTinyChunkFlood = (pieces: number, bytes: number) => pieces > maxSmallPieces && bytes < pieces * minMeanBytes;

/** Register before anything that reads bodies. */
export function boundBodies(app: FastifyInstance, room = new BodyRoom(bodyRoom)): void {
  const reading = new BodyRoom(readingRoom);
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw, headers, routeOptions } = request;
    const isSmall = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= uncounted;
    if (!isSmall && routeOptions.config.takesFile !== true) {
      const share = (routeOptions.config.scope === 'write' ? room : reading).enter();
      const gone = new AbortController();
      let pieces = 0;
      let taken = 0;
      const count = (bytes: Buffer) => {
        pieces++;
        taken += bytes.length;
        if (isTinyChunkFlood(pieces, taken)) raw.destroy();
        const wait = share.take(bytes.length + pieceBytes, gone.signal);
        if (wait === null) return;
        raw.pause();
        wait.then(
          () => raw.resume(),
          () => {},
        );
      };
      const leave = () => {
        raw.off('data', count);
        gone.abort();
        share.leave();
      };
      raw.on('data', count);
      reply.raw.once('close', leave);
    }
    done(null, payload);
  });
}

/** The rest of a refused body is dropped before closing: unread bytes would destroy the answer (RFC 9112, 9.6). */
export interface DrainLimits {
  /** Max time from the answer to the end of the connection, ms. */
  ms: number;
  /** Max dropped bytes of one body. */
  bytes: number;
  /** Max bodies dropped at the same time. Above it, the connection ends after the answer. */
  atOnce: number;
}

/** Enough for 64 MB on a local network. Each costs at most one socket buffer. */
const defaultLimits: DrainLimits = { ms: 5_000, bytes: 64 * 1024 * 1024, atOnce: 32 };

/** Resolves after the body, or at a limit; then Node closes the connection. */
function answerAndDrain(answer: string, body: IncomingMessage, limits: DrainLimits, released: () => void): Readable {
  let pieces = 0;
  let taken = 0;
  const finish = () => {
    clearTimeout(timer);
    body.off('data', count).off('end', finish).off('close', finish);
    stream.push(null);
  };
  const count = (bytes: Buffer) => {
    pieces++;
    taken += bytes.length;
    if (isTinyChunkFlood(pieces, taken)) body.destroy();
    else if (taken > limits.bytes) finish();
  };
  const timer = setTimeout(finish, limits.ms);
  const stream = new Readable({
    read: () => {},
    destroy: (error, done) => {
      finish();
      released();
      done(error);
    },
  });
  stream.push(answer);
  body.on('data', count).once('end', finish).once('close', finish).resume();
  return stream;
}

/** Register on the app: answers that close their connection wait for the rest of the body, within limits. */
export function drainUnreadBodies(app: FastifyInstance, limits: DrainLimits = defaultLimits): void {
  let draining = 0;
  app.addHook('onSend', async (request, reply, payload) => {
    const closes = reply.getHeader('connection') === 'close';
    if (typeof payload !== 'string' || !closes || request.raw.readableEnded || draining >= limits.atOnce)
      return payload;
    draining += 1;
    reply.header('content-length', Buffer.byteLength(payload));
    return answerAndDrain(payload, request.raw, limits, () => {
      draining -= 1;
    });
  });
}
