/** Forgetting and its rules: contract "Forget and blacklist". */
import { z } from 'zod';
import { blacklistResponse, forgetRequest, forgetResponse } from '../../domain/blacklist.ts';
import { pathText } from '../../domain/texts.ts';
import type { RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { errorAnswers } from '../openapi.ts';

export const blacklistRoutes: RouteGroup = (app, { asking }) => {
  app.post(
    '/v1/forget',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'forget',
        summary: 'Forget a page or a domain for good',
        tags: ['forget'],
        body: forgetRequest,
        response: { 200: forgetResponse, ...errorAnswers(422) },
      },
    },
    async ({ body }, reply) => asking(reply)('page.forget', body),
  );

  app.get(
    '/v1/blacklist',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_blacklist',
        summary: 'What was forgotten and is not taken in again, newest first',
        tags: ['forget'],
        response: { 200: blacklistResponse },
      },
    },
    async (_, reply) => withRows(await asking(reply)('blacklist.list', {})),
  );

  app.delete(
    '/v1/blacklist/:blacklist_id',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'delete_blacklist_rule',
        summary: 'Take a rule away: its target may be handed in again',
        tags: ['forget'],
        params: z.object({ blacklist_id: pathText }),
        response: { 204: z.null(), ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => {
      await asking(reply)('blacklist.remove', params);
      return reply.code(204).send(null);
    },
  );
};
