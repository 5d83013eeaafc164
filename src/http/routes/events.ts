/**
 * The event stream: contract "Events". The snapshot, then events as they come and comments between them. What the client does
 * not take is not asked for, so that the events service sees who stands still. Who has vanished is looked for here, since the
 * system takes what it cannot deliver.
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Holder } from '../../access/access.ts';
import { streamEvent } from '../../actors/system/events.ts';
import { DomainError } from '../../domain/errors.ts';
import type { EventSubscription } from '../../domain/events.ts';
import { holderOf, type RouteGroup } from '../http-app.ts';
import { LostPeers } from '../lost-peers.ts';

const heartbeat = ':\n\n';
/** Subscribers that have vanished are looked for once a heartbeat, which is what they do not acknowledge; within these bounds, ms. */
const lookEveryMs = { min: 500, max: 15_000 };

async function* streamOf(subscription: EventSubscription, heartbeatMs: number): AsyncGenerator<string> {
  yield streamEvent('snapshot', subscription.snapshot);
  for (;;) {
    const text = await subscription.take(heartbeatMs);
    if (text === null) return;
    yield text === '' ? heartbeat : text;
  }
}

export const eventRoutes: RouteGroup = (app, { ask, access, heartbeatMs }) => {
  const open = new Map<EventSubscription, { socket: Socket; holder: Holder }>();
  let closing = false;

  const lostPeers = new LostPeers<Socket>();
  const cutLost = async () => {
    for (const socket of await lostPeers.look([...open.values()].map(({ socket }) => socket))) {
      app.log.info('a subscriber of the event stream does not answer any more');
      socket.destroy();
    }
  };
  // Revoked, or over its time: the latter is only seen when it is looked at.
  const endUnheld = () => {
    for (const [subscription, { holder }] of open) if (!access.holds(holder)) subscription.leave();
  };
  const stopHearing = access.onRevoked(endUnheld);
  const looking = setInterval(
    () => {
      endUnheld();
      cutLost().catch((error) => app.log.warn({ err: error }, 'lost subscribers could not be looked for'));
    },
    Math.min(Math.max(heartbeatMs, lookEveryMs.min), lookEveryMs.max),
  );
  looking.unref();
  // Streams have no end of their own, and closing waits for answers that are under way.
  app.addHook('preClose', async () => {
    closing = true;
    clearInterval(looking);
    stopHearing();
    for (const subscription of open.keys()) subscription.leave();
  });

  app.get(
    '/v1/events',
    {
      config: { scope: 'read' },
      exposeHeadRoute: false,
      schema: {
        operationId: 'events',
        summary: 'Changes of jobs as they happen',
        description:
          'Server-sent events: one `snapshot` with the data of `GET /v1/jobs`, then one `job` for each change of status, with the data of a JobResponse and `page_id` where the job works on a page. Every connection starts with a snapshot.',
        tags: ['jobs'],
        response: {
          200: { description: 'The stream', content: { 'text/event-stream': { schema: z.string() } } },
        },
      },
    },
    async (request, reply) => {
      if (closing) throw new DomainError('shutting_down', 'the service is stopping');
      const subscription = await ask(request)('events.subscribe', {});
      if (reply.raw.destroyed) {
        subscription.leave();
        return reply.hijack();
      }
      open.set(subscription, { socket: request.raw.socket, holder: holderOf(request) });
      endUnheld();
      reply.raw.once('close', () => subscription.leave());
      void subscription.ended.then((reason) => {
        open.delete(subscription);
        // Whoever takes nothing would not take the end either.
        if (reason === 'stalled') reply.raw.destroy();
      });
      reply.raw.socket?.setTimeout(0); // silence is no sign of trouble here
      const stream: FastifyReply = reply;
      return stream
        .headers({
          'content-type': 'text/event-stream',
          'x-accel-buffering': 'no',
          'cache-control': 'no-cache, no-store',
        })
        .send(Readable.from(streamOf(subscription, heartbeatMs)));
    },
  );
};
