/**
 * Merging entities and undoing it. A merge puts one entity below another and moves nothing, so pages may come and be forgotten
 * meanwhile, and an undo leaves every row as if the merge had never been. Merges are undone last in, first out; a merge that was
 * undone is not made again, nor brought about by way of a third entity.
 */
import type { Entity, EntityMerge } from '../domain/entity.ts';
import type { EntityReader } from '../store/entities.ts';
import type { Command, Transaction } from '../store/store.ts';
import { mentionsOf, rootOf, treeOf, unitedPageCount } from './entity-trees.ts';
import { treePages } from './page-entities.ts';

/**
 * Merge the entities that stand for these two: one that stands for no others into one that does, else the less mentioned one. Null, and
 * nothing changes, where they are one already, of two types, gone, or were split.
 */
export function mergeEntities(a: number, b: number, at: number): Command<EntityMerge | null> {
  return (transaction) => {
    const { entities, counters } = transaction;
    const [one, other] = [a, b].map((no) => entities.get(no)).map((each) => each && rootOf(entities, each));
    if (one === undefined || other === undefined || one.no === other.no || one.type !== other.type) return null;
    if (entities.hasSplits() && wereSplit(transaction, one, other)) return null;
    const [kept, merged] = standsBefore(entities, one, other) ? [one, other] : [other, one];
    const merge: EntityMerge = {
      no: counters.take('merge'),
      kept: kept.no,
      merged: merged.no,
      merged_at: at,
      undone_at: null,
    };
    entities.putMerge(merge);
    const tree_pages = unitedPageCount(entities, kept, merged);
    entities.put({ ...merged, parent: kept.no, tree_pages: 0 }, merged);
    entities.put({ ...kept, children: [...kept.children, merged.no], tree_pages }, kept);
    return merge;
  };
}

/**
 * Merge two entities whose names are alike, as far as each still stands for itself and one of them stands for nothing else: so
 * whoever stands for others is like every one of them, and names that differ a little from one another do not become a chain.
 */
export function mergeAlike(a: number, b: number, at: number): Command<EntityMerge | null> {
  return (transaction) => {
    const [one, other] = [a, b].map((no) => transaction.entities.get(no));
    if (one === undefined || other === undefined || one.parent !== 0 || other.parent !== 0) return null;
    if (one.children.length > 0 && other.children.length > 0) return null;
    return mergeEntities(a, b, at)(transaction);
  };
}

/** The one that stands for others, else the one that more mentions name, of equals the older. */
function standsBefore(entities: EntityReader, a: Entity, b: Entity): boolean {
  const standsForOthers = a.children.length > 0;
  if (standsForOthers !== b.children.length > 0) return standsForOthers;
  const [m, n] = [mentionsOf(entities, a), mentionsOf(entities, b)];
  return m > n || (m === n && a.no < b.no);
}

export type UndoOutcome =
  | { outcome: 'undone'; restored: number }
  | { outcome: 'unknown' }
  | { outcome: 'undone_before' }
  | { outcome: 'not_latest'; latest: number };

export function undoMerge(mergeNo: number, at: number): Command<UndoOutcome> {
  return (transaction) => {
    const { entities } = transaction;
    const merge = entities.merge(mergeNo);
    if (merge === undefined) return { outcome: 'unknown' };
    if (merge.undone_at !== null) return { outcome: 'undone_before' };
    const latest = entities.latestMerge();
    if (latest !== undefined && latest.no !== mergeNo) return { outcome: 'not_latest', latest: latest.no };
    const kept = entities.get(merge.kept);
    const merged = entities.get(merge.merged);
    if (kept === undefined || merged === undefined) return { outcome: 'unknown' };
    place(transaction, { ...kept, children: kept.children.filter((no) => no !== merged.no) }, kept);
    place(transaction, { ...merged, parent: 0 }, merged);
    entities.split(kept.no, merged.no);
    entities.putMerge({ ...merge, undone_at: at });
    return { outcome: 'undone', restored: merged.no };
  };
}

function place(transaction: Transaction, entity: Entity, before: Entity): void {
  transaction.entities.put({ ...entity, tree_pages: treePages(transaction, entity) }, before);
}

function wereSplit({ entities }: Transaction, a: Entity, b: Entity): boolean {
  const others = treeOf(entities, b);
  return treeOf(entities, a).some(({ no }) => others.some((other) => entities.areSplit(no, other.no)));
}
