/** Lists entities, and finds one by a reference. References survive merges. */
import { mentionsOf, pageCountOf, rootOf } from '../../commands/entity-trees.ts';
import type { Entity, EntityListQuery } from '../../domain/entity.ts';
import { DomainError } from '../../domain/errors.ts';
import { foldName } from '../../domain/normalize-text.ts';
import { idOf, numberOf } from '../../domain/values.ts';
import type { EntityReader } from '../../store/entities.ts';
import { inParts } from '../system/background.ts';

/** Rows read per turn of the event loop: some ms. */
const rowsPerTurn = 500;

/** Position in the list: entities of more pages come first, older ones first among equals. */
interface Place {
  no: number;
  pages: number;
}

const inOrder = (a: Place, b: Place): number => b.pages - a.pages || a.no - b.no;
const cursorOf = ({ no, pages }: Place): string => `${pages}.${idOf('entity', no)}`;

/** Errors: DomainError `invalid`. */
function placeOf(cursor: string): Place {
  const [, pages, id = ''] = /^(\d{1,10})\.(.+)$/.exec(cursor) ?? [];
  const no = numberOf('entity', id);
  if (no === null) throw new DomainError('invalid', 'cursor: must be the `next_cursor` of an answer');
  return { no, pages: Number(pages) };
}

/** A part of the roots, filtered by spelling. Reads all rows. Errors: DomainError `invalid`; the signal's reason. */
export async function listEntities(
  entities: EntityReader,
  { q, type, limit, cursor }: EntityListQuery,
  signal?: AbortSignal,
): Promise<{ roots: Entity[]; next_cursor: string | null }> {
  const after = cursor === undefined ? null : placeOf(cursor);
  const wanted = q === undefined ? '' : foldName(q);
  const spelled = ({ forms }: Entity) => wanted === '' || forms.some(([form]) => foldName(form).includes(wanted));
  const places = new Map<number, Place>();
  const read = (after: number) => entities.listAfter(after, rowsPerTurn);
  for await (const rows of inParts(read, ({ no }) => no, { signal })) {
    for (const row of rows) {
      if ((type !== undefined && row.type !== type) || !spelled(row)) continue;
      const root = rootOf(entities, row);
      const place = { no: root.no, pages: pageCountOf(root) };
      if (place.pages > 0 && (after === null || inOrder(after, place) < 0)) places.set(root.no, place);
    }
  }
  const sorted = [...places.values()].sort(inOrder);
  const part = sorted.slice(0, limit);
  const roots = part.flatMap(({ no }) => entities.get(no) ?? []);
  return { roots, next_cursor: sorted.length > limit ? cursorOf(part[limit - 1]) : null };
}

/** No name is longer. */
const maxReference = 1000;

/** The entity with this id, canonical form or alias. Of several, the most mentioned. */
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

/** Inverse document frequency: ln(1 + pages read for entities / pages that mention it). Null if no page mentions it. */
export function entityIdf(entities: EntityReader, root: Entity): number | null {
  const mentioned = pageCountOf(root);
  return mentioned === 0 ? null : Math.log(1 + entities.pagesRead() / mentioned);
}
