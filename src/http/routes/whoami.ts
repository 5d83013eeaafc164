/** Who the caller's token belongs to. */
import { whoAmIResponse } from '../../domain/access.ts';
import { holderOf, type RouteGroup } from '../http-app.ts';

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
    async (request) => {
      const { name, scopes } = holderOf(request);
      return { name, scopes };
    },
  );
};
