/** References to entities: an id, a canonical form or an alias, case and accents aside. They survive merges. */
import { mentionsOf, pageCountOf, rootOf } from '../../commands/entity-trees.ts';
import type { Entity } from '../../domain/entity.ts';
import { DomainError } from '../../domain/errors.ts';
import { foldName } from '../../domain/normalize-text.ts';
import { numberOf } from '../../domain/values.ts';
import type { EntityReader } from '../../store/entities.ts';

/** Longest name that is looked for: none is longer. */
const maxReference = 1000;

/** The entity that a reference stands for: of several that have the name, be it a canonical form or an alias, the most mentioned. */
export function resolveEntity(entities: EntityReader, ref: string): Entity | undefined {
  const no = numberOf('entity', ref);
  const byId = no === null ? undefined : entities.get(no);
  if (byId !== undefined) return rootOf(entities, byId);
  if (ref.length > maxReference) return undefined;
  return entities
    .named(foldName(ref))
    .map((entity) => rootOf(entities, entity))
    .map((root) => ({ root, mentions: mentionsOf(entities, root) }))
    .sort((a, b) => b.mentions - a.mentions || a.root.no - b.root.no)[0]?.root;
}

/** Errors: DomainError `not_found`. */
export function requireEntity(entities: EntityReader, ref: string): Entity {
  const entity = resolveEntity(entities, ref);
  if (entity !== undefined) return entity;
  throw new DomainError('not_found', `no entity is known as ${JSON.stringify(ref.slice(0, 64))}`);
}

/** Inverse document frequency over the pages that were read: ln(1 + pages / pages that mention it); null where none does. */
export function entityIdf(entities: EntityReader, root: Entity): number | null {
  const mentioned = pageCountOf(root);
  return mentioned === 0 ? null : Math.log(1 + entities.pagesRead() / mentioned);
}
