/**
 * Merged entities as trees: an entity without a parent stands for itself and all below it. Read by whoever presents entities, and
 * kept up by the commands that change them.
 */
import type { Entity } from '../domain/entity.ts';
import { foldName } from '../domain/normalize-text.ts';
import type { EntityReader } from '../store/entities.ts';

/** The entity that stands for this one. */
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

/** Pages that mention the entity or anything below it, ascending. */
export function pagesOfTree(entities: EntityReader, entity: Entity): number[] {
  const tree = treeOf(entities, entity);
  if (tree.length === 1) return entities.pagesOf(entity.no);
  const pages = new Set(tree.flatMap(({ no }) => entities.pagesOf(no)));
  return [...pages].sort((a, b) => a - b);
}

export function pageCountOf(entity: Entity): number {
  return entity.children.length === 0 ? entity.page_count : entity.tree_pages;
}

/**
 * Pages that mention one of two trees, where no entity is in both: the pages of the one with fewer are looked up in the other, so that
 * a name of few pages is quickly put beside one of many.
 */
export function unitedPageCount(entities: EntityReader, a: Entity, b: Entity): number {
  const [fewer, more] = pageCountOf(a) < pageCountOf(b) ? [a, b] : [b, a];
  const members = treeOf(entities, more);
  const others = pagesOfTree(entities, fewer).filter((page) => !members.some(({ no }) => entities.mentions(no, page)));
  return pageCountOf(more) + others.length;
}

/** Mentions of the entity and all below it. */
export function mentionsOf(entities: EntityReader, entity: Entity): number {
  let mentions = 0;
  for (const { forms } of treeOf(entities, entity)) for (const [, count] of forms) mentions += count;
  return mentions;
}

/** The commonest spelling of its name. */
export function canonicalForm({ forms, key }: Entity): string {
  return forms.find(([form]) => foldName(form) === key)?.[0] ?? forms[0]?.[0] ?? key;
}
