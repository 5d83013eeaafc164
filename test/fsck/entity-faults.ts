/** Faults of entities, mentions and merges. */
import type { Entity, EntityMerge } from '../../src/domain/entity.ts';
import { edit, type Faults } from './tampered-store.ts';

export const entityFaults: Faults = {
  'mentions of no page': {
    plant: ({ pageEntities }) => pageEntities.put(77, pageEntities.get(1) ?? []),
    finding: /entities of no page: 77/,
  },
  'a mention of an entity that is not there': {
    plant: ({ entities }) => entities.remove(2),
    finding: /page 1 mentions entity 2, which is not there/,
  },
  'an entity that a page lists twice': {
    plant: ({ pageEntities }) => pageEntities.put(3, [...(pageEntities.get(3) ?? []), ...(pageEntities.get(3) ?? [])]),
    finding: /page 3 lists 2 of its entities twice/,
  },
  'an entity that no page mentions': {
    plant: ({ pageEntities }) => pageEntities.remove(3),
    finding: /entity 4 is mentioned by no page/,
  },
  'an entity job that is another page’s': {
    plant: ({ pages }) => edit(pages, 1, { entity_job: 2 }),
    finding: /page 1: its entity job 2 is not there, or another page's/,
  },
  'a page that was read and has nothing of it': {
    plant: ({ pages, pageEntities }) => [edit(pages, 3, { entity_job: 3 }), pageEntities.remove(3)],
    finding: /page 3 was read for entities, and what it mentions is not there/,
  },
  'spellings that the mentions do not have': {
    plant: ({ entities }) => edit(entities, 1, { forms: [['Acme', 9]] }),
    finding: /entity 1 has other spellings than its mentions/,
  },
  'a wrong number of pages of an entity': {
    plant: ({ entities }) => edit(entities, 2, { page_count: 7 }),
    finding: /entity 2 counts 7 pages, and 2 mention it/,
  },
  'a wrong number of pages of all below an entity': {
    plant: ({ entities }) => edit(entities, 1, { tree_pages: 1 }),
    finding: /entity 1 counts 1 pages with all below it, and there are 2/,
  },
  'an entity below another by no merge': {
    plant: ({ entities }) => edit(entities, 5, { parent: 4 }),
    finding: /entity 5 is below 4, and by the merges below none/,
  },
  'a merge that the rows do not follow': {
    plant: ({ entities }) => edit(entities, 3, { parent: 0 }),
    finding: /merge 1 stands, and 3 is not below 1/,
  },
  'children that the merges do not know': {
    plant: ({ entities }) => edit(entities, 1, { children: [] }),
    finding: /entity 1 stands for others than the merges say/,
  },
  'a merge of an entity that is not there': {
    plant: ({ merges, mergesOfEntity }) => [
      merges.put(9, { ...(merges.get(1) as EntityMerge), no: 9, merged: 88 }),
      ...[1, 88].map((side) => mergesOfEntity.put([side, 9], 0)),
    ],
    finding: /merge 9 is of entity 88, which is not there/,
  },
  'a merge that its entity does not lead to': {
    plant: ({ mergesOfEntity }) => mergesOfEntity.remove([3, 1]),
    finding: /merges by entity: \[3,1\] is missing/,
  },
  'entities kept apart by no undone merge': {
    plant: ({ splits }) => splits.put([1, 2], 0),
    finding: /entities kept apart: \[1,2\] is of no row/,
  },
  'an undone merge that is not kept apart': {
    plant: ({ splits }) => splits.remove([4, 5]),
    finding: /entities kept apart: \[4,5\] is missing/,
  },
  'two entities of one type and name': {
    plant: ({ entities, pageEntities, counters }) => [
      entities.put(6, { ...(entities.get(2) as Entity), no: 6, page_count: 1 }),
      pageEntities.put(3, [...(pageEntities.get(3) ?? []), { no: 6, forms: [['Oslo', [0, 4]]] }]),
      counters.put('entity', 7),
    ],
    finding: /entities 2 and 6 are of one type and name/,
  },
  'an entity that its name does not lead to': {
    plant: ({ entityNames }) => entityNames.remove([...entityNames.getKeys()][0]),
    finding: /names of entities: 1 of \d+ are missing/,
  },
  'a page that its entity does not lead to': {
    plant: ({ entityPages }) => entityPages.remove([2, 1]),
    finding: /pages by entity: 1 of \d+ are missing/,
  },
  'an entity that leads to a page without it': {
    plant: ({ entityPages }) => entityPages.put([2, 3], 0),
    finding: /pages by entity: page 3 does not mention entity 2/,
  },
  'an entity whose number was not given yet': {
    plant: ({ counters }) => counters.put('entity', 2),
    finding: /entity \d has a number that was not given yet/,
  },
  'a merge whose number was not given yet': {
    plant: ({ counters }) => counters.put('merge', 1),
    finding: /merge \d has a number that was not given yet/,
  },
};
