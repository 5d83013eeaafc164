/**
 * A signal that fires when the caller has gone before its answer was out, so that work for nobody stops. Fastify's own
 * `request.signal` listens to the request, which Node closes as soon as a body has been read; this listens to the answer.
 */
import type { ServerResponse } from 'node:http';

export function clientSignal({ raw }: { raw: ServerResponse }): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
