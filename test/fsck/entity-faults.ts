/** Faults of entities, mentions and merges. */
import type { Entity, EntityMerge } from '../../src/domain/entity.ts';
import { edit, type Faults } from './tampered-store.ts';

export const entityFaults: Faults = [
  [/entities of a missing page: 77/, ({ pageEntities }) => pageEntities.put(77, pageEntities.get(1) ?? [])],
  [/page 1 mentions entity 2, which is missing/, ({ entities }) => entities.remove(2)],
  [
    /page 3 lists 2 of its entities twice/,
    ({ pageEntities }) => pageEntities.put(3, [...(pageEntities.get(3) ?? []), ...(pageEntities.get(3) ?? [])]),
  ],
  [/entity 4 is mentioned by no page/, ({ pageEntities }) => pageEntities.remove(3)],
  [/page 1: its entity job 2 is missing, or belongs to another page/, ({ pages }) => edit(pages, 1, { entity_job: 2 })],
  [
    /page 3 was read for entities, but its mentions are missing/,
    ({ pages, pageEntities }) => [edit(pages, 3, { entity_job: 3 }), pageEntities.remove(3)],
  ],
  [/entity 1 has other spellings than its mentions/, ({ entities }) => edit(entities, 1, { forms: [['Acme', 9]] })],
  [/entity 2 counts 7 pages, and 2 mention it/, ({ entities }) => edit(entities, 2, { page_count: 7 })],
  [
    /entity 1 counts 1 pages with all below it, but there are 2/,
    ({ entities }) => edit(entities, 1, { tree_pages: 1 }),
  ],
  [/entity 5 is below 4, and by the merges below none/, ({ entities }) => edit(entities, 5, { parent: 4 })],
  [/merge 1 is not undone, but 3 is not below 1/, ({ entities }) => edit(entities, 3, { parent: 0 })],
  [/entity 1 stands for others than the merges say/, ({ entities }) => edit(entities, 1, { children: [] })],
  [
    /merge 9 is of entity 88, which is missing/,
    ({ merges, mergesOfEntity }) => [
      merges.put(9, { ...(merges.get(1) as EntityMerge), no: 9, merged: 88 }),
      ...[1, 88].map((side) => mergesOfEntity.put([side, 9], 0)),
    ],
  ],
  [/merges by entity: \[3,1\] is missing/, ({ mergesOfEntity }) => mergesOfEntity.remove([3, 1])],
  [/entities kept apart: \[1,2\] belongs to no row/, ({ splits }) => splits.put([1, 2], 0)],
  [/entities kept apart: \[4,5\] is missing/, ({ splits }) => splits.remove([4, 5])],
  [
    /entities 2 and 6 are of one type and name/,
    ({ entities, pageEntities, counters }) => [
      entities.put(6, { ...(entities.get(2) as Entity), no: 6, page_count: 1 }),
      pageEntities.put(3, [...(pageEntities.get(3) ?? []), { no: 6, forms: [['Oslo', [0, 4]]] }]),
      counters.put('entity', 7),
    ],
  ],
  [/names of entities: 1 of \d+ are missing/, ({ entityNames }) => entityNames.remove([...entityNames.getKeys()][0])],
  [/pages by entity: 1 of \d+ are missing/, ({ entityPages }) => entityPages.remove([2, 1])],
  [/pages by entity: page 3 does not mention entity 2/, ({ entityPages }) => entityPages.put([2, 3], 0)],
  [/entity \d has a number that is not assigned yet/, ({ counters }) => counters.put('entity', 2)],
  [/merge \d has a number that is not assigned yet/, ({ counters }) => counters.put('merge', 1)],
];
