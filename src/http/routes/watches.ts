/** Contract "Watches". */
import { z } from 'zod';
import { pathText } from '../../domain/texts.ts';
import * as watch from '../../domain/watch.ts';
import { needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { errorAnswers } from '../openapi.ts';

const watchParams = z.object({ watch_id: pathText });

export const watchRoutes: RouteGroup = (app, { asking }) => {
  app.get(
    '/v1/watches',
    needsRead({
      operationId: 'list_watches',
      summary: 'All watches, oldest first',
      querystring: watch.watchListQuery,
      response: { 200: watch.watchListResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => withRows(await asking(reply)('watch.list', query)),
  );

  app.get(
    '/v1/watches/:watch_id',
    needsRead({
      operationId: 'get_watch',
      summary: 'A watch with the outcome of its latest poll',
      params: watchParams,
      response: { 200: watch.watchResponse, ...errorAnswers(404) },
    }),
    async ({ params }, reply) => asking(reply)('watch.get', params),
  );

  app.post(
    '/v1/watches',
    needsWrite({
      operationId: 'create_watch',
      summary: 'Create a watch',
      description: 'For a URL that is already watched, returns the existing watch unchanged.',
      body: watch.createWatchRequest,
      response: { 201: watch.watchResponse, ...errorAnswers(422) },
    }),
    async ({ body }, reply) => reply.code(201).send(await asking(reply)('watch.create', body)),
  );

  app.patch(
    '/v1/watches/:watch_id',
    needsWrite({
      operationId: 'update_watch',
      summary: 'Change a watch',
      description:
        'Missing fields stay unchanged. `null` clears `title` and `config`. A new interval counts from the last run.',
      params: watchParams,
      body: watch.updateWatchRequest,
      response: { 200: watch.watchResponse, ...errorAnswers(404, 422) },
    }),
    async ({ params, body }, reply) => asking(reply)('watch.update', { ...body, ...params }),
  );

  app.delete(
    '/v1/watches/:watch_id',
    needsWrite({
      operationId: 'delete_watch',
      summary: 'Delete a watch; its pages stay',
      params: watchParams,
      response: { 204: z.null(), ...errorAnswers(404) },
    }),
    async ({ params }, reply) => {
      await asking(reply)('watch.delete', params);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/watches/:watch_id/run',
    needsWrite({
      operationId: 'run_watch',
      summary: 'Poll now; the next scheduled poll is one interval later',
      params: watchParams,
      response: { 202: watch.watchRunAcceptedResponse, ...errorAnswers(404) },
    }),
    async ({ params }, reply) => reply.code(202).send(await asking(reply)('watch.run', params)),
  );
};
