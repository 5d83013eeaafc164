/**
 * A merge puts one entity below another and moves no data, so an undo leaves every row as before. Undo applies to the
 * latest merge, split to any. The two are then never merged again, not even through a third entity.
 */

import type { Entity, EntityMerge, MergeMaker } from '../domain/entity.ts';
import type { EntityReader } from '../store/entities.ts';
import type { Command, Transaction } from '../store/store.ts';
import { mentionsOf, rootOf, treeOf, unitedPageCount, variantForm } from './entity-trees.ts';
import { treePages } from './page-entities.ts';

/** The one with children, or more mentions, stays the root. Null if equal, split, deleted, or of different types. */
export function mergeEntities(a: number, b: number, at: number): Command<EntityMerge | null> {
  return (transaction) => {
    const { entities } = transaction;
    const [one, other] = [a, b].map((no) => entities.get(no)).map((each) => each && rootOf(entities, each));
    if (one === undefined || other === undefined || !mayBeOne(entities, one, other)) return null;
    const [kept, merged] = standsBefore(entities, one, other) ? [one, other] : [other, one];
    return putBelow(transaction, kept, merged, { at, made_by: 'user' });
  };
}

/** Store a merge as undone at once. Null for one entity, two types, or a deleted entity. */
export function rejectMerge(a: number, b: number, at: number): Command<EntityMerge | null> {
  return (transaction) => {
    const { entities } = transaction;
    const [one, other] = [a, b].map((no) => entities.get(no)).map((each) => each && rootOf(entities, each));
    if (one === undefined || other === undefined || one.no === other.no || one.type !== other.type) return null;
    const [kept, merged] = standsBefore(entities, one, other) ? [one.no, other.no] : [other.no, one.no];
    entities.split(kept, merged);
    return newMerge(transaction, { kept, merged, merged_at: at, undone_at: at, made_by: 'user' });
  };
}

/** A variant that a user merged elsewhere stays there, and the other is put below it. Null if both were. */
export function mergeVariants(a: number, b: number, at: number): Command<EntityMerge | null> {
  return (transaction) => {
    const { entities } = transaction;
    const [one, other] = [a, b].map((no) => entities.get(no)).map((each) => each && topVariant(entities, each));
    if (one === undefined || other === undefined || (one.parent !== 0 && other.parent !== 0)) return null;
    if (!mayBeOne(entities, rootOf(entities, one), rootOf(entities, other))) return null;
    const isKept = one.parent !== 0 || (other.parent === 0 && standsBefore(entities, one, other));
    const [kept, merged] = isKept ? [one, other] : [other, one];
    return putBelow(transaction, kept, merged, { at, made_by: 'automatic' });
  };
}

/** The highest ancestor on a path of variants. */
function topVariant(entities: EntityReader, entity: Entity): Entity {
  const parent = entities.get(entity.parent);
  return parent === undefined || variantForm(parent) !== variantForm(entity) ? entity : topVariant(entities, parent);
}

export function mayBeOne(entities: EntityReader, one: Entity, other: Entity): boolean {
  if (one.no === other.no || one.type !== other.type) return false;
  if (!entities.hasSplits()) return true;
  const others = treeOf(entities, other);
  return !treeOf(entities, one).some(({ no }) => others.some((each) => entities.areSplit(no, each.no)));
}

function standsBefore(entities: EntityReader, a: Entity, b: Entity): boolean {
  const standsForOthers = a.children.length > 0;
  if (standsForOthers !== b.children.length > 0) return standsForOthers;
  const [m, n] = [mentionsOf(entities, a), mentionsOf(entities, b)];
  return m > n || (m === n && a.no < b.no);
}

function newMerge({ entities, counters }: Transaction, given: Omit<EntityMerge, 'no'>): EntityMerge {
  const merge = { no: counters.take('merge'), ...given };
  entities.putMerge(merge);
  return merge;
}

/** `merged` is a root; `kept` may be below another. */
function putBelow(
  transaction: Transaction,
  kept: Entity,
  merged: Entity,
  { at, made_by }: { at: number; made_by: MergeMaker },
): EntityMerge {
  const { entities } = transaction;
  const pair = { kept: kept.no, merged: merged.no };
  const merge = newMerge(transaction, { ...pair, merged_at: at, undone_at: null, made_by });
  const root = rootOf(entities, kept);
  const tree_pages = unitedPageCount(entities, root, merged);
  entities.put({ ...merged, parent: kept.no, tree_pages: 0 }, merged);
  const children = [...kept.children, merged.no];
  if (root.no === kept.no) entities.put({ ...kept, children, tree_pages }, kept);
  else {
    entities.put({ ...kept, children }, kept);
    entities.put({ ...root, tree_pages }, root);
  }
  return merge;
}

type SplitOutcome =
  | { outcome: 'split'; restored: number }
  | { outcome: 'unknown' }
  | { outcome: 'undone_before' }
  | { outcome: 'not_latest'; latest: number };

export function splitMerge(
  mergeNo: number,
  at: number,
  { latestOnly }: { latestOnly: boolean },
): Command<SplitOutcome> {
  return (transaction) => {
    const { entities } = transaction;
    const merge = entities.merge(mergeNo);
    if (merge === undefined) return { outcome: 'unknown' };
    if (merge.undone_at !== null) return { outcome: 'undone_before' };
    const latest = latestOnly ? entities.latestMerge() : merge;
    if (latest !== undefined && latest.no !== mergeNo) return { outcome: 'not_latest', latest: latest.no };
    separate(transaction, merge);
    entities.split(merge.kept, merge.merged);
    entities.putMerge({ ...merge, undone_at: at });
    return { outcome: 'split', restored: merge.merged };
  };
}

/** Make the merged entity a root with its subtree. Does not change the merge's row. */
function separate(transaction: Transaction, merge: EntityMerge): void {
  const { entities } = transaction;
  const [kept, merged] = [entities.get(merge.kept), entities.get(merge.merged)];
  if (kept === undefined || merged === undefined) return;
  entities.put({ ...kept, children: kept.children.filter((no) => no !== merged.no) }, kept);
  entities.put({ ...merged, parent: 0 }, merged);
  for (const no of [rootOf(entities, kept).no, merged.no]) {
    const root = entities.get(no);
    if (root !== undefined) entities.put({ ...root, tree_pages: treePages(transaction, root) }, root);
  }
}
