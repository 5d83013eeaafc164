/** Entities: contract "Entities", and the list of merges that undoing needs. */
import { z } from 'zod';
import * as entity from '../../domain/entity.ts';
import { pathText } from '../../domain/texts.ts';
import type { RouteGroup } from '../http-app.ts';
import { errorAnswers } from '../openapi.ts';

export const entityRoutes: RouteGroup = (app, { asking }) => {
  app.get(
    '/v1/entities',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_entities',
        summary: 'The names that pages mention, those of most pages first',
        description:
          '`q` is part of a spelling, in any case. A list is read on by `cursor`, the `next_cursor` of the answer before.',
        tags: ['entities'],
        querystring: entity.entityListQuery,
        response: { 200: entity.entityListResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => asking(reply)('entity.list', query),
  );

  app.get(
    '/v1/entities/:ref',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'entities',
        summary: 'An entity with its aliases and the pages that mention it',
        description:
          'The reference is an id, a canonical form or an alias, in any case; an ambiguous alias goes to the most mentioned. References survive merges.',
        tags: ['entities'],
        params: z.object({ ref: pathText }),
        response: { 200: entity.entityDetailResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => asking(reply)('entity.get', params),
  );

  app.post(
    '/v1/entities/:ref/merge',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'merge_entities',
        summary: 'Take two names for one',
        description:
          'The one that stands for others, else the one of more mentions, stands for both from now on. 409 where they are one already, of two types, or a merge of them was undone. Undone like any other merge.',
        tags: ['entities'],
        params: z.object({ ref: pathText }),
        body: entity.mergeEntityRequest,
        response: { 200: entity.entityMergeResponse, ...errorAnswers(404, 409, 422) },
      },
    },
    async ({ params, body }, reply) => asking(reply)('entity.merge', { ...params, ...body }),
  );

  app.post(
    '/v1/entities/merges/:merge_id/undo',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'undo_entity_merge',
        summary: 'Undo the latest merge of two entities',
        description: 'Last in, first out: 409 for any other merge, and for one that was undone before.',
        tags: ['entities'],
        params: z.object({ merge_id: pathText }),
        response: { 200: entity.undoMergeResponse, ...errorAnswers(404, 409) },
      },
    },
    async ({ params }, reply) => asking(reply)('entity.undoMerge', params),
  );

  app.get(
    '/v1/admin/entity-merges',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_entity_merges',
        summary: 'Merges of entities, newest first, at most 1,000',
        tags: ['entities'],
        response: { 200: entity.entityMergeListResponse },
      },
    },
    async (_request, reply) => asking(reply)('entity.merges', {}),
  );

  app.get(
    '/v1/pages/:page_id/entities',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_page_entities',
        summary: 'The entities that a page mentions, in the order of its text',
        tags: ['entities'],
        params: z.object({ page_id: pathText }),
        response: { 200: entity.pageEntitiesResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => asking(reply)('page.entities', params),
  );
};
