/** Contract "Pages": ingest, reading and status; and users' notes, tags and highlights. */
import { z } from 'zod';
import { blacklistResponse, forgetRequest, forgetResponse } from '../../domain/blacklist.ts';
import { DomainError } from '../../domain/errors.ts';
import * as page from '../../domain/page.ts';
import { pathText } from '../../domain/values.ts';
import { described, errorAnswers, errorResponse, needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { batchBodyLimit } from '../json-body.ts';
import { httpValidationError } from '../request-invalid.ts';
import { askingRoutes } from './asking-routes.ts';

const pageParams = z.object({ page_id: pathText });
const ingestStatus = { accepted: 202, revisit: 200, blacklisted: 403 } as const;

export const pageRoutes: RouteGroup = (app, context) => {
  const { asking } = context;
  const { get, patch, post, postToRead } = askingRoutes(app, context);

  app.post(
    '/v1/pages',
    needsWrite(
      {
        operationId: 'add_page',
        summary: 'Add a page',
        body: page.ingestPageRequest,
        response: {
          ...errorAnswers(501, 507),
          422: described(422, z.union([httpValidationError, errorResponse])),
          200: page.ingestRevisitResponse,
          202: page.ingestAcceptedResponse,
          403: z.union([page.blacklistedResponse, errorResponse]),
        },
      },
      { namesCauseInWords: true },
    ),
    async ({ body }, reply) => {
      const { outcome, ...answer } = await asking(reply)('page.ingest', body);
      return reply.code(ingestStatus[outcome]).send(answer);
    },
  );

  app.post(
    '/v1/pages/batch',
    {
      bodyLimit: batchBodyLimit,
      config: { scope: 'write', itemsField: 'pages' },
      schema: {
        operationId: 'add_pages',
        summary: 'Add up to 100 pages',
        body: page.ingestBatchRequest,
        response: { 200: page.ingestBatchResponse, ...errorAnswers(422, 507) },
      },
    },
    async ({ body }, reply) => ({ results: await asking(reply)('page.ingestBatch', body) }),
  );

  get('/v1/pages', 'page.list', {
    operationId: 'list_pages',
    summary: 'List pages, newest first, or look up an address',
    description:
      'Continue with `cursor`, the `next_cursor` of the previous answer, until it is null. With `url` the list contains the page of that address in any form, or nothing, and `blocked_by` is the rule that blocks the address, or null. `after` and `before` find pages with a visit in between; with `visits` the pages have the times of their visits, newest first. Of a page with thousands of visits some are left out: one per hour or day stays.',
    querystring: page.pageListQuery,
    answer: page.pageListResponse,
  });

  app.get(
    '/v1/pages/:page_id',
    needsRead({
      operationId: 'get_page',
      summary: 'A page with its text or a part of it',
      description:
        'With `offset` or `length`, in UTF-16 code units, `body_text` is that part of the text, and `body_length` the length of the whole text.',
      params: pageParams,
      querystring: page.pageQuery,
      response: { 200: page.pageResponse, ...errorAnswers(404, 422) },
    }),
    async ({ params, query }, reply) => {
      const ask = asking(reply);
      const page = await ask('page.get', params);
      // Reads only what the client accepts.
      const { body_text, body_length } = await ask('page.text', { ...params, ...query });
      const isPart = body_length !== undefined && (query.offset !== undefined || query.length !== undefined);
      return withRows({ ...page, body_text, ...(isPart && { body_length }) });
    },
  );

  get('/v1/pages/:page_id/chunks', 'page.chunks', {
    operationId: 'page_chunks',
    summary: 'The chunks of a page, in order',
    answer: page.pageChunksResponse,
  });

  get('/v1/pages/:page_id/status', 'page.status', {
    operationId: 'page_status',
    summary: 'Indexing status of a page',
    answer: page.pageStatusResponse,
  });

  postToRead('/v1/pages/status/batch', 'page.statusBatch', {
    operationId: 'page_statuses',
    summary: 'The status of up to 500 pages',
    body: page.pageStatusBatchRequest,
    answer: page.pageStatusBatchResponse,
  });

  app.patch(
    '/v1/pages/:page_id',
    needsWrite({
      operationId: 'edit_page',
      summary: "Change a page's tags, note and highlights",
      description:
        'They are stored in `metadata`; searches find them after a job has indexed them. Missing fields stay unchanged. Imports do not add removed ones again.',
      params: pageParams,
      body: page.pageEditRequest,
      response: { 200: page.pageEditResponse, ...errorAnswers(404, 422) },
    }),
    async ({ params, body }, reply) => {
      const ask = asking(reply);
      const { results } = await ask('page.edit', { ...body, page_ids: [params.page_id] });
      if (results[0].outcome === 'too_large') throw new DomainError('invalid', 'the metadata would be too large');
      const { page_id, metadata } = await ask('page.get', params);
      return { page_id, metadata };
    },
  );

  patch('/v1/pages', 'page.edit', {
    operationId: 'edit_pages',
    summary: 'Add tags to up to 500 pages, or remove them',
    body: page.pageEditBatchRequest,
    answer: page.pageEditBatchResponse,
  });

  post('/v1/pages/refresh', 'page.refresh', {
    operationId: 'refresh_pages',
    summary: 'Fetch the text of up to 500 pages again',
    description:
      'Each page gets a `fetch_and_index` job, or its dead job is retried. Searches use the stored text until the new one replaces it; it stays if the fetch fails. Visits, tags, notes and highlights are kept.',
    body: page.pageRefreshRequest,
    answer: page.pageRefreshResponse,
  });
};

export const blacklistRoutes: RouteGroup = (app, context) => {
  const { delete: remove, get, post } = askingRoutes(app, context);

  post('/v1/demo', 'demo.add', {
    operationId: 'add_demo',
    summary: 'Add demo pages to a library without pages',
    description: 'Their addresses are under `demo.example`, their visits within the last year. 409 if there are pages.',
    tags: ['pages'],
    answer: page.demoAddedResponse,
    status: 202,
    errors: [409, 507],
  });

  remove('/v1/demo', 'demo.remove', {
    operationId: 'remove_demo',
    summary: 'Delete the demo pages, without blocking them',
    tags: ['pages'],
    answer: page.demoRemovedResponse,
  });

  post('/v1/forget', 'page.forget', {
    operationId: 'forget',
    summary: 'Forget a page or a domain for good',
    body: forgetRequest,
    answer: forgetResponse,
  });

  get('/v1/blacklist', 'blacklist.list', {
    operationId: 'list_blacklist',
    summary: 'Rules of forgotten pages and domains, newest first',
    answer: blacklistResponse,
  });

  remove('/v1/blacklist/:blacklist_id', 'blacklist.remove', {
    operationId: 'delete_blacklist_rule',
    summary: 'Delete a rule: its target may be added again',
    answer: z.null(),
    status: 204,
  });
};
