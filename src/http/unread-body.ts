/**
 * Answers that are given before a body has arrived (413, 401, 403): the answer goes out whole at once, and what the client still
 * sends is taken and dropped for a while before the connection is closed. A connection that is closed on unread bytes is reset,
 * and the reset destroys the answer before an ordinary client has read it (RFC 9112, section 9.6).
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { isCrumbs } from './arriving-bodies.ts';

export interface DrainLimits {
  /** From the answer to the end of the connection, ms. */
  ms: number;
  /** Taken and dropped of one body. */
  bytes: number;
  /** Bodies dropped at the same time; the answers of others are followed by the end of the connection. */
  atOnce: number;
}

/** The time is for 64 MB on a local network, with room for a busy machine; each costs no more than a socket's buffer. */
const defaultLimits: DrainLimits = { ms: 5_000, bytes: 64 * 1024 * 1024, atOnce: 32 };

/** The answer, ending only once the body has ended or a limit is reached: Node closes the connection after that. */
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
    if (isCrumbs(pieces, taken)) body.destroy();
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

/** Have every answer that closes its connection wait for the rest of the request's body, within limits. */
export function takeUnreadBodies(app: FastifyInstance, limits: DrainLimits = defaultLimits): void {
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
