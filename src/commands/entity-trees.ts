/** Merged entities as trees: an entity without a parent represents itself and all below it. */
import { variantOf } from '../compute/text/name-variants.ts';
import type { Entity } from '../domain/entity.ts';
import { foldName } from '../domain/normalize-text.ts';
import type { EntityReader } from '../store/entities.ts';

export function rootOf(entities: Pick<EntityReader, 'get'>, entity: Entity): Entity {
  let root = entity;
  while (root.parent !== 0) {
    const parent = entities.get(root.parent);
    if (parent === undefined) break;
    root = parent;
  }
  return root;
}

/** The entity and all below it, itself first. */
export function treeOf(entities: EntityReader, entity: Entity): Entity[] {
  const tree = [entity];
  for (let at = 0; at < tree.length; at++) {
    for (const no of tree[at].children) {
      const child = entities.get(no);
      if (child !== undefined) tree.push(child);
    }
  }
  return tree;
}

export function pagesOfTree(entities: EntityReader, entity: Entity): number[] {
  const tree = treeOf(entities, entity);
  if (tree.length === 1) return entities.pagesOf(entity.no);
  const pages = new Set(tree.flatMap(({ no }) => entities.pagesOf(no)));
  return [...pages].sort((a, b) => a - b);
}

export function pageCountOf(entity: Entity): number {
  return entity.children.length === 0 ? entity.page_count : entity.tree_pages;
}

/** Pages that mention one of two disjoint trees. Looks up the smaller set in the larger, so a rare name is cheap to compare. */
export function unitedPageCount(entities: EntityReader, a: Entity, b: Entity): number {
  const [fewer, more] = pageCountOf(a) < pageCountOf(b) ? [a, b] : [b, a];
  const members = treeOf(entities, more);
  const others = pagesOfTree(entities, fewer).filter((page) => !members.some(({ no }) => entities.mentions(no, page)));
  return pageCountOf(more) + others.length;
}

export function mentionsOf(entities: EntityReader, entity: Entity): number {
  let mentions = 0;
  for (const { forms } of treeOf(entities, entity)) for (const [, count] of forms) mentions += count;
  return mentions;
}

/** Its most common spelling. */
export function canonicalForm({ forms, key }: Entity): string {
  return forms.find(([form]) => foldName(form) === key)?.[0] ?? forms[0]?.[0] ?? key;
}

/** Equal forms mean equal entities; null for an unmerged entity. */
export function variantForm(entity: Entity): string | null {
  const form = variantOf(entity.type, canonicalForm(entity));
  return form === null ? null : `${entity.type} ${form}`;
}
