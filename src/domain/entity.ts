/** Contract "Entities", and the stored rows. */
import { z } from 'zod';
import { datetime, idText, queryInteger, storedText } from './values.ts';

export const entitySummary = z.strictObject({
  id: z.string(),
  canonical_form: z.string(),
  type: z.string(),
  mention_count: z.int(),
  page_count: z.int(),
  idf: z.number().nullable(),
});
export type EntitySummary = z.infer<typeof entitySummary>;

export const entityListQuery = z.object({
  q: storedText(200).optional(),
  type: z.string().max(50).optional(),
  limit: queryInteger({ min: 1, max: 500, byDefault: 50 }),
  cursor: idText.optional(),
});
export type EntityListQuery = z.infer<typeof entityListQuery>;
export const entityListResponse = z.strictObject({
  entities: z.array(entitySummary),
  next_cursor: z.string().nullable(),
});
export type EntityListResponse = z.infer<typeof entityListResponse>;

export const entityDetailResponse = z.strictObject({
  entity: entitySummary,
  aliases: z.array(z.string()),
  page_ids: z.array(z.string()),
});
export type EntityDetailResponse = z.infer<typeof entityDetailResponse>;

export const pageEntitiesResponse = z.strictObject({ page_id: z.string(), entities: z.array(entitySummary) });
export type PageEntitiesResponse = z.infer<typeof pageEntitiesResponse>;

/** Automatic, for exact variants, or by a user. */
const mergeMaker = z.enum(['automatic', 'user']);
export type MergeMaker = z.infer<typeof mergeMaker>;

export const undoMergeResponse = z.strictObject({ restored_entity_id: z.string() });
export type UndoMergeResponse = z.infer<typeof undoMergeResponse>;

export const mergeEntityRequest = z.strictObject({
  with: z.string().min(1).max(1024).describe('id, canonical form or alias of the other name'),
});
export type MergeEntityRequest = z.infer<typeof mergeEntityRequest>;

export const entityMergeResponse = z.strictObject({
  merge_id: z.string(),
  kept_entity_id: z.string(),
  kept_form: z.string(),
  merged_entity_id: z.string(),
  merged_form: z.string(),
  type: z.string(),
  merged_at: datetime,
  undone_at: datetime.nullable(),
  made_by: mergeMaker.nullable().describe('null: merged by an earlier version, which did not record it'),
});
export type EntityMergeResponse = z.infer<typeof entityMergeResponse>;
export const entitySuggestionListQuery = z.object({ limit: queryInteger({ min: 1, max: 500, byDefault: 100 }) });
export type EntitySuggestionListQuery = z.infer<typeof entitySuggestionListQuery>;
const entitySuggestion = z.strictObject({
  entity_id: z.string(),
  form: z.string(),
  other_entity_id: z.string(),
  other_form: z.string(),
  type: z.string(),
});
export type EntitySuggestion = z.infer<typeof entitySuggestion>;
export const entitySuggestionListResponse = z.strictObject({ suggestions: z.array(entitySuggestion) });
export type EntitySuggestionListResponse = z.infer<typeof entitySuggestionListResponse>;

export const entityMergeListQuery = z.object({
  entity: storedText(1024).optional(),
});
export type EntityMergeListQuery = z.infer<typeof entityMergeListQuery>;
export const entityMergeListResponse = z.strictObject({ merges: z.array(entityMergeResponse) });
export type EntityMergeListResponse = z.infer<typeof entityMergeListResponse>;

/** A merge moves no mentions; it sets `parent`. An entity without a parent represents its descendants. */
export interface Entity {
  no: number;
  type: string;
  key: string;
  /** Spellings with their counts, most first. */
  forms: [form: string, count: number][];
  /** Pages that mention it, without its descendants. */
  page_count: number;
  /** The entity that it was merged into, or 0. */
  parent: number;
  children: number[];
  /** Pages that mention it or a descendant. Only for entities with children and no parent; otherwise 0. */
  tree_pages: number;
}

export interface PageEntity {
  no: number;
  /** Spellings with their places: UTF-16 offsets into the body, start and end alternating; those of the title are below 0. */
  forms: [form: string, places: number[]][];
}

export interface EntityMerge {
  no: number;
  kept: number;
  merged: number;
  merged_at: number;
  undone_at: number | null;
  /** Absent in rows of earlier versions. */
  made_by?: MergeMaker;
}
