/**
 * The memory of bodies that arrive, over all connections. A body takes room as it comes, until its request is answered; where there is none its
 * connection is not read, and the time limit of the request ends who waits for too long. Small bodies do not wait. A piece of a body costs
 * more than its bytes: 16 MB in pieces of a byte took 6 GB. Its room is counted, and who sends nothing but crumbs is cut off. Files that are
 * handed on as they come take none.
 */
import type { FastifyInstance } from 'fastify';
import { BodyRoom } from '../compute/structures/body-room.ts';
import { whenOver } from './answer-end.ts';

/** Bytes for all of them together: two batches of the greatest size. One body more may be of any size that its route allows. */
const bodyRoom = 128 * 1024 * 1024;
/** Bodies up to this, as their clients announce it, take no room: 15,000 connections may hold 120 MB of them. */
const uncounted = 8 * 1024;

/** What a piece takes beside its bytes, about. */
const pieceBytes = 256;
/** So many pieces may be as small as they like; of more, the mean is at least `leastMeanBytes`. */
const mostSmallPieces = 1024;
const leastMeanBytes = 64;

/** Whether a body comes in pieces as no client sends them. */
export const isCrumbs = (pieces: number, bytes: number) => pieces > mostSmallPieces && bytes < pieces * leastMeanBytes;

/** Have bodies take room. Register before anything that reads them. */
export function boundBodies(app: FastifyInstance, room = new BodyRoom(bodyRoom)): void {
  app.addHook('preParsing', ({ raw, headers, routeOptions }, reply, payload, done) => {
    const isSmall = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= uncounted;
    if (!isSmall && routeOptions.config.takesFile !== true) {
      const share = room.enter();
      const gone = new AbortController();
      let pieces = 0;
      let taken = 0;
      const count = (bytes: Buffer) => {
        pieces++;
        taken += bytes.length;
        if (isCrumbs(pieces, taken)) raw.destroy();
        const wait = share.take(bytes.length + pieceBytes, gone.signal);
        if (wait === null) return;
        raw.pause();
        // It rejects when the client has gone.
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
      whenOver(reply.raw, leave);
    }
    done(null, payload);
  });
}
