/**
 * The memory of bodies that arrive, over all connections. A body takes room as it comes, until its request is answered; where there is none its
 * connection is not read, and the time limit of the request ends who waits for too long. Small bodies do not wait.
 */
import type { FastifyInstance } from 'fastify';
import { BodyRoom } from '../compute/structures/body-room.ts';
import { whenOver } from './answer-end.ts';

/** Bytes for all of them together: two batches of the greatest size. One body more may be of any size that its route allows. */
const bodyRoom = 128 * 1024 * 1024;
/** Bodies up to this, as their clients announce it, take no room: 15,000 connections may hold 120 MB of them. */
const uncounted = 8 * 1024;

/** Have bodies take room. Register before anything that reads them. */
export function boundBodies(app: FastifyInstance, room = new BodyRoom(bodyRoom)): void {
  app.addHook('preParsing', ({ raw, headers }, reply, payload, done) => {
    const isSmall = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= uncounted;
    if (!isSmall) {
      const share = room.enter();
      const gone = new AbortController();
      const count = (bytes: Buffer) => {
        const wait = share.take(bytes.length, gone.signal);
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
