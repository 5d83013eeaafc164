/** Contract "Entities", and the list of merges for undoing. */
import { z } from 'zod';
import * as entity from '../../domain/entity.ts';
import { pathText } from '../../domain/texts.ts';
import { needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { errorAnswers } from '../openapi.ts';

export const entityRoutes: RouteGroup = (app, { asking }) => {
  app.get(
    '/v1/entities',
    needsRead({
      operationId: 'list_entities',
      summary: 'Names in pages, most frequent first',
      description:
        '`q` is a part of a spelling, in any case. Continue with `cursor`, the `next_cursor` of the previous answer.',
      querystring: entity.entityListQuery,
      response: { 200: entity.entityListResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('entity.list', query),
  );

  app.get(
    '/v1/entities/:ref',
    needsRead({
      operationId: 'entities',
      summary: 'An entity with its aliases and the pages that mention it',
      description:
        '`ref` is an id, a canonical form or an alias, in any case; an ambiguous alias means the entity with most mentions. References survive merges.',
      params: z.object({ ref: pathText }),
      response: { 200: entity.entityDetailResponse, ...errorAnswers(404) },
    }),
    async ({ params }, reply) => asking(reply)('entity.get', params),
  );

  app.post(
    '/v1/entities/:ref/merge',
    needsWrite({
      operationId: 'merge_entities',
      summary: 'Merge two entities',
      description:
        'The entity that others were merged into, otherwise the one with more mentions, is kept. 409 if they are already merged, have different types, or a merge of them was undone.',
      params: z.object({ ref: pathText }),
      body: entity.mergeEntityRequest,
      response: { 200: entity.entityMergeResponse, ...errorAnswers(404, 409, 422) },
    }),
    async ({ params, body }, reply) => asking(reply)('entity.merge', { ...params, ...body }),
  );

  app.post(
    '/v1/entities/merges/:merge_id/undo',
    needsWrite({
      operationId: 'undo_entity_merge',
      summary: 'Undo the latest merge of two entities',
      description: 'Last in, first out: 409 for any other merge, and for one that is already undone.',
      params: z.object({ merge_id: pathText }),
      response: { 200: entity.undoMergeResponse, ...errorAnswers(404, 409) },
    }),
    async ({ params }, reply) => asking(reply)('entity.undoMerge', params),
  );

  app.post(
    '/v1/entities/merges/:merge_id/split',
    needsWrite({
      operationId: 'split_entity_merge',
      summary: 'Split any merge of two entities',
      description:
        'Like undo, but in any order. Entities merged into the restored one stay with it. 409 for a merge that is already undone or split.',
      params: z.object({ merge_id: pathText }),
      response: { 200: entity.undoMergeResponse, ...errorAnswers(404, 409) },
    }),
    async ({ params }, reply) => asking(reply)('entity.splitMerge', params),
  );

  app.post(
    '/v1/entities/:ref/reject',
    needsWrite({
      operationId: 'reject_entity_merge',
      summary: 'Note that two names are not one',
      description:
        'They are suggested no more, and never merged automatically. 409 where they are one, or of two types.',
      tags: ['entities'],
      params: z.object({ ref: pathText }),
      body: entity.mergeEntityRequest,
      response: { 200: entity.entityMergeResponse, ...errorAnswers(404, 409, 422) },
    }),
    async ({ params, body }, reply) => asking(reply)('entity.reject', { ...params, ...body }),
  );

  app.get(
    '/v1/admin/entity-suggestions',
    needsRead({
      operationId: 'list_entity_suggestions',
      summary: 'Pairs of names that may be one, the most alike first',
      description:
        'Within `entity.edit_distance_threshold` or `entity.cosine_threshold`. Accepted by merging them, else rejected.',
      tags: ['entities'],
      querystring: entity.entitySuggestionListQuery,
      response: { 200: entity.entitySuggestionListResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('entity.suggestions', query),
  );

  app.get(
    '/v1/admin/entity-merges',
    needsRead({
      operationId: 'list_entity_merges',
      summary: 'Merges of entities, newest first, at most 1,000',
      description: '`entity` limits the list to one entity.',
      tags: ['entities'],
      querystring: entity.entityMergeListQuery,
      response: { 200: entity.entityMergeListResponse, ...errorAnswers(404, 422) },
    }),
    async ({ query }, reply) => asking(reply)('entity.merges', query),
  );

  app.get(
    '/v1/pages/:page_id/entities',
    needsRead({
      operationId: 'get_page_entities',
      summary: 'The entities of a page, in the order of its text',
      tags: ['entities'],
      params: z.object({ page_id: pathText }),
      response: { 200: entity.pageEntitiesResponse, ...errorAnswers(404) },
    }),
    async ({ params }, reply) => asking(reply)('page.entities', params),
  );
};
