/** The query log and feedback on its results: contract "Retrieval and feedback" and "Events, admin, diagnostics". */
import { z } from 'zod';
import {
  feedbackRequest,
  feedbackResponse,
  queryLogListResponse,
  queryLogQuery,
  queryLogRunResponse,
} from '../../domain/query-log.ts';
import { pathText } from '../../domain/texts.ts';
import type { RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { errorAnswers } from '../openapi.ts';

export const queryLogRoutes: RouteGroup = (app, { asking }) => {
  app.post(
    '/v1/feedback',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'feedback',
        summary: 'Say whether a result was relevant',
        description:
          'Unknown query ids are accepted; evaluation drops them. A later word on the same page replaces an earlier one.',
        tags: ['retrieval'],
        body: feedbackRequest,
        response: { 202: feedbackResponse, ...errorAnswers(422) },
      },
    },
    async ({ body }, reply) => reply.code(202).send(await asking(reply)('feedback.give', body)),
  );

  app.get(
    '/v1/admin/query-log',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'query_log',
        summary: 'Logged queries, newest first',
        tags: ['diagnostics'],
        querystring: queryLogQuery,
        response: { 200: queryLogListResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => withRows(await asking(reply)('queryLog.list', query)),
  );

  app.get(
    '/v1/admin/query-log/:query_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'logged_query',
        summary: 'One logged query with its candidates and its feedback',
        tags: ['diagnostics'],
        params: z.object({ query_id: pathText }),
        response: { 200: queryLogRunResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => asking(reply)('queryLog.get', params),
  );
};
