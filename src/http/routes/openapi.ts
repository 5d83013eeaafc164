/** The OpenAPI document of this very server. */
import { z } from 'zod';
import type { RouteGroup } from '../http-app.ts';

export const openapiRoutes: RouteGroup = (app) => {
  app.get(
    '/openapi.json',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_openapi',
        summary: 'This document',
        tags: ['diagnostics'],
        response: { 200: z.record(z.string(), z.unknown()) },
      },
    },
    async () => ({ ...app.swagger() }),
  );
};
