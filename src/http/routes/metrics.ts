/** The metrics in text exposition, for scrapers with a bearer token. */
import { z } from 'zod';
import type { RouteGroup } from '../http-app.ts';

export const metricsRoutes: RouteGroup = (app, { metrics }) => {
  app.get(
    '/metrics',
    {
      config: { scope: 'read', isOfHost: true },
      schema: {
        operationId: 'get_metrics',
        summary: 'Metrics in text exposition',
        tags: ['diagnostics'],
        response: {
          200: { description: 'Metrics', content: { 'text/plain': { schema: z.string() } } },
        },
      },
    },
    async (_request, reply) => {
      const { contentType, text } = await metrics.exposition();
      return reply.type(contentType).send(text);
    },
  );
};
