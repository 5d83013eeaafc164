/** Contract "Entities", and the list of merges for undoing. */
import * as entity from '../../domain/entity.ts';
import type { RouteGroup } from '../http-app.ts';
import { askingRoutes } from './asking-routes.ts';

export const entityRoutes: RouteGroup = (app, context) => {
  const { get, post } = askingRoutes(app, context);

  get('/v1/entities', 'entity.list', {
    operationId: 'list_entities',
    summary: 'Names in pages, most frequent first',
    description:
      '`q` is a part of a spelling, in any case. Continue with `cursor`, the `next_cursor` of the previous answer.',
    querystring: entity.entityListQuery,
    answer: entity.entityListResponse,
  });

  get('/v1/entities/:ref', 'entity.get', {
    operationId: 'entities',
    summary: 'An entity with its aliases and the pages that mention it',
    description:
      '`ref` is an id, a canonical form or an alias, in any case; an ambiguous alias means the entity with most mentions. References survive merges.',
    answer: entity.entityDetailResponse,
  });

  post('/v1/entities/:ref/merge', 'entity.merge', {
    operationId: 'merge_entities',
    summary: 'Merge two entities',
    description:
      'The entity that others were merged into, otherwise the one with more mentions, is kept. 409 if they are already merged, have different types, or a merge of them was undone.',
    body: entity.mergeEntityRequest,
    answer: entity.entityMergeResponse,
    errors: [409],
  });

  post('/v1/entities/merges/:merge_id/undo', 'entity.undoMerge', {
    operationId: 'undo_entity_merge',
    summary: 'Undo the latest merge of two entities',
    description: 'Last in, first out: 409 for any other merge, and for one that is already undone.',
    answer: entity.undoMergeResponse,
    errors: [409],
  });

  post('/v1/entities/merges/:merge_id/split', 'entity.splitMerge', {
    operationId: 'split_entity_merge',
    summary: 'Split any merge of two entities',
    description:
      'Like undo, but in any order. Entities merged into the restored one stay with it. 409 for a merge that is already undone or split.',
    answer: entity.undoMergeResponse,
    errors: [409],
  });

  post('/v1/entities/:ref/reject', 'entity.reject', {
    operationId: 'reject_entity_merge',
    summary: 'Note that two names are not one',
    description: 'They are never suggested or merged automatically again. 409 if they are one, or of two types.',
    tags: ['entities'],
    body: entity.mergeEntityRequest,
    answer: entity.entityMergeResponse,
    errors: [409],
  });

  get('/v1/admin/entity-suggestions', 'entity.suggestions', {
    operationId: 'list_entity_suggestions',
    summary: 'Pairs of similar names, most similar first',
    description:
      'Within `entity.edit_distance_threshold` or `entity.cosine_threshold`. Merge a pair to accept it; otherwise reject it.',
    tags: ['entities'],
    querystring: entity.entitySuggestionListQuery,
    answer: entity.entitySuggestionListResponse,
  });

  get('/v1/admin/entity-merges', 'entity.merges', {
    operationId: 'list_entity_merges',
    summary: 'Merges of entities, newest first, at most 1,000',
    description: '`entity` limits the list to one entity.',
    tags: ['entities'],
    querystring: entity.entityMergeListQuery,
    answer: entity.entityMergeListResponse,
    errors: [404],
  });

  get('/v1/pages/:page_id/entities', 'page.entities', {
    operationId: 'get_page_entities',
    summary: 'The entities of a page, in the order of its text',
    tags: ['entities'],
    answer: entity.pageEntitiesResponse,
  });
};
