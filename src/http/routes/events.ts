/** Contract "Events": a snapshot, then events and comments, read no faster than the client reads. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Holder } from '../../access/access.ts';
import { streamEvent } from '../../actors/system/events.ts';
import { DomainError } from '../../domain/errors.ts';
import type { EventSubscription } from '../../domain/job.ts';
import { holderOf, type RouteGroup } from '../http-app.ts';

const heartbeat = ':\n\n';
/** Access is checked at each heartbeat, within these limits, ms. */
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
  const open = new Map<EventSubscription, Holder>();
  let closing = false;

  // The token is revoked or expired. Only a check notices expiry.
  const endUnheld = () => {
    for (const [subscription, holder] of open) if (!access.holds(holder)) subscription.leave();
  };
  const stopHearing = access.onRevoked(endUnheld);
  const looking = setInterval(endUnheld, Math.min(Math.max(heartbeatMs, lookEveryMs.min), lookEveryMs.max));
  looking.unref();
  // Streams do not end on their own, and closing the server waits for them.
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
        summary: 'Event stream of job changes',
        description:
          'Server-sent events: one `snapshot` with the data of `GET /v1/jobs`, then one `job` for each change of status, with a JobResponse and the `page_id` if the job has a page.',
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
      open.set(subscription, holderOf(request));
      endUnheld();
      reply.raw.once('close', () => subscription.leave());
      void subscription.ended.then((reason) => {
        open.delete(subscription);
        // A stalled client would not read the end of the stream either.
        if (reason === 'stalled') reply.raw.destroy();
      });
      reply.raw.socket?.setTimeout(0); // an idle stream is normal, and the system ends a vanished peer
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
