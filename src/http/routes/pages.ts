/** Pages: ingest, reading and status. Contract "Pages". */
import { z } from 'zod';
import { forgetResponse } from '../../domain/blacklist.ts';
import * as page from '../../domain/page.ts';
import { pathText } from '../../domain/texts.ts';
import { errorResponse } from '../errors.ts';
import type { HttpApp, RouteContext, RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { batchBodyLimit } from '../json-body.ts';
import { described, errorAnswers } from '../openapi.ts';
import { httpValidationError } from '../request-invalid.ts';

const pageParams = z.object({ page_id: pathText });

function ingestRoutes(app: HttpApp, { asking }: RouteContext): void {
  app.post(
    '/v1/pages',
    {
      config: { scope: 'write', namesCauseInWords: true },
      schema: {
        operationId: 'add_page',
        summary: 'Hand in a page',
        tags: ['pages'],
        body: page.ingestPageRequest,
        response: {
          ...errorAnswers(501, 507),
          422: described(422, z.union([httpValidationError, errorResponse])),
          200: page.ingestRevisitResponse,
          202: page.ingestAcceptedResponse,
          403: z.union([page.blacklistedResponse, errorResponse]),
        },
      },
    },
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
        summary: 'Hand in up to 100 pages',
        tags: ['pages'],
        body: page.ingestBatchRequest,
        response: { 200: page.ingestBatchResponse, ...errorAnswers(422, 507) },
      },
    },
    async ({ body }, reply) => ({ results: await asking(reply)('page.ingestBatch', body) }),
  );
}

const ingestStatus = { accepted: 202, revisit: 200, blacklisted: 403 } as const;

function readRoutes(app: HttpApp, { asking }: RouteContext): void {
  app.get(
    '/v1/pages',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_pages',
        summary: 'Pages, newest first, or the one of an address',
        description:
          'Go on with `cursor`, the `next_cursor` of the answer before, until that is null. With `url` the list has the page of that address, however it is written, or nothing: whether it was read.',
        tags: ['pages'],
        querystring: page.pageListQuery,
        response: { 200: page.pageListResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => asking(reply)('page.list', query),
  );

  app.get(
    '/v1/pages/:page_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_page',
        summary: 'A page with its text, or with a part of it',
        description:
          'With `offset` or `length`, in UTF-16 code units, `body_text` is that part of the text and `body_length` tells how long all of it is. A character of two units is in the part that it begins in.',
        tags: ['pages'],
        params: pageParams,
        querystring: page.pageQuery,
        response: { 200: page.pageResponse, ...errorAnswers(404, 422) },
      },
    },
    async ({ params, query }, reply) => {
      const ask = asking(reply);
      const page = await ask('page.get', params);
      // No more is read at a time than the client takes.
      const { body_text, body_length } = await ask('page.text', { ...params, ...query });
      const isPart = body_length !== undefined && (query.offset !== undefined || query.length !== undefined);
      return withRows({ ...page, body_text, ...(isPart && { body_length }) });
    },
  );

  app.get(
    '/v1/pages/:page_id/chunks',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'page_chunks',
        summary: 'The chunks of a page, in order',
        tags: ['pages'],
        params: pageParams,
        response: { 200: page.pageChunksResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => withRows(await asking(reply)('page.chunks', params)),
  );
}

function visitRoutes(app: HttpApp, { asking }: RouteContext): void {
  app.get(
    '/v1/pages/:page_id/visits',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'page_visits',
        summary: 'How often a page was visited, and when',
        description:
          'Visits are counted; of their times the first and the last are kept, in `visits` newest first: one where they are the same.',
        tags: ['pages'],
        params: pageParams,
        response: { 200: page.pageVisitsResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => asking(reply)('page.visits', params),
  );
}

function statusRoutes(app: HttpApp, { asking }: RouteContext): void {
  app.get(
    '/v1/pages/:page_id/status',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'page_status',
        summary: 'How far indexing of a page is',
        tags: ['pages'],
        params: pageParams,
        response: { 200: page.pageStatusResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => asking(reply)('page.status', params),
  );

  app.post(
    '/v1/pages/status/batch',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'page_statuses',
        summary: 'The status of up to 500 pages',
        tags: ['pages'],
        body: page.pageStatusBatchRequest,
        response: { 200: page.pageStatusBatchResponse, ...errorAnswers(422) },
      },
    },
    async ({ body }, reply) => asking(reply)('page.statusBatch', body),
  );
}

function forgetRoutes(app: HttpApp, { asking }: RouteContext): void {
  app.delete(
    '/v1/pages/:page_id',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'forget_page',
        summary: 'Forget this page',
        description:
          'As `POST /v1/forget` with its address: the page is erased and not taken in again. No rule is made for its site.',
        tags: ['forget'],
        params: pageParams,
        response: { 200: forgetResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => {
      const ask = asking(reply);
      const { canonical_url: url } = await ask('page.get', params);
      return ask('page.forget', { url });
    },
  );
}

export const pageRoutes: RouteGroup = (app, context) => {
  forgetRoutes(app, context);
  ingestRoutes(app, context);
  statusRoutes(app, context);
  visitRoutes(app, context);
  readRoutes(app, context);
};
