/** Who the caller's token belongs to. */
import { whoAmIResponse } from '../../domain/access.ts';
import type { RouteGroup } from '../http-app.ts';

export const whoAmIRoutes: RouteGroup = (app) => {
  app.get(
    '/v1/whoami',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'whoami',
        summary: 'Name and scopes of the token',
        tags: ['diagnostics'],
        response: { 200: whoAmIResponse },
      },
    },
    async ({ holder }) => {
      if (holder === null) throw new TypeError('a route with a scope was called without a token');
      return { name: holder.name, scopes: holder.scopes };
    },
  );
};
