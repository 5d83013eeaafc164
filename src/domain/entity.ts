/** Entities: the contract's "Entities" bodies and the stored rows. */
import { z } from 'zod';
import { datetime } from './ids.ts';
import { queryInteger } from './query-values.ts';
import { idText, storedText } from './texts.ts';

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
  /** Part of a spelling, in any case and with any accents. */
  q: storedText(200).optional(),
  type: z.string().max(50).optional(),
  limit: queryInteger({ min: 1, max: 500, byDefault: 50 }),
  /** The `next_cursor` of the answer before. */
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
});
export type EntityMergeResponse = z.infer<typeof entityMergeResponse>;
export const entityMergeListResponse = z.strictObject({ merges: z.array(entityMergeResponse) });
export type EntityMergeListResponse = z.infer<typeof entityMergeListResponse>;

/**
 * An entity as pages mention it. A merge does not move mentions: it puts one entity below another (`parent`), and those that are not
 * below another stand for all that are below them.
 */
export interface Entity {
  no: number;
  type: string;
  /** Its name, folded: of one type there is one entity of a key. */
  key: string;
  /** Spellings of its mentions with their number, most first. */
  forms: [form: string, count: number][];
  /** Pages that mention it, not counting what is below it. */
  page_count: number;
  /** The entity that it was merged into, or 0. */
  parent: number;
  /** Entities that were merged into it, in that order. */
  children: number[];
  /** Pages that mention it or anything below it; kept for entities with children that have no parent, else 0. */
  tree_pages: number;
}

/** What a page mentions. */
export interface PageEntity {
  no: number;
  /** Each spelling with its places: UTF-16 offsets into the body, start and end in turn; those of the title are below 0. */
  forms: [form: string, places: number[]][];
}

export interface EntityMerge {
  no: number;
  kept: number;
  merged: number;
  merged_at: number;
  undone_at: number | null;
}
