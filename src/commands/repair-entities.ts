/**
 * Repair what a store says of entities: what each page mentions and the merges are believed as far as they are of something that is
 * there; rows and lookups are made again from them.
 */
import { tallyEntities } from '../domain/entity-tallies.ts';
import type { Transaction } from '../store/store.ts';
import { sweepAgain } from './page-entities.ts';

/** Gives how many rows were changed or dropped, of entities and of what pages mention. Runs after the pages are repaired. */
export function repairEntities(transaction: Transaction): number {
  const { entities, counters } = transaction;
  let repaired = repairMentions(transaction);
  const rows = new Map(entities.listAfter(0, Number.MAX_SAFE_INTEGER).map((entity) => [entity.no, entity]));
  const { tallies } = tallyEntities(entities.readPages(), entities.allMerges(), (no) => rows.get(no)?.type);
  for (const entity of rows.values()) {
    const tally = tallies.get(entity.no);
    const sound = { ...entity, ...tally };
    if (tally !== undefined && JSON.stringify(sound) === JSON.stringify(entity)) continue;
    if (tally === undefined) entities.dropRow(entity.no);
    else entities.put(sound, entity);
    repaired++;
  }
  for (const { no, kept, merged, undone_at } of entities.allMerges()) {
    if (undone_at === null && tallies.get(merged)?.parent !== kept) {
      entities.removeMerge(no);
      repaired++;
    }
  }
  entities.rebuildIndexes();
  counters.raiseAbove('entity', entities.lastNumber());
  counters.raiseAbove('merge', entities.merges(1)[0]?.no ?? 0);
  return repaired;
}

/**
 * Drop what is of no page, and forget what a page mentions that lists an entity twice or names one that is not there or has the name of
 * an older one: such a page is read again, for only its text knows what was meant.
 */
function repairMentions(transaction: Transaction): number {
  const { entities, pages } = transaction;
  const names = new Set<string>();
  const sound = new Set<number>();
  for (const { no, type, key } of entities.listAfter(0, Number.MAX_SAFE_INTEGER)) {
    const name = JSON.stringify([type, key]);
    if (!names.has(name)) sound.add(no);
    names.add(name);
  }
  let repaired = 0;
  for (const [pageNo, mentioned] of [...entities.readPages()]) {
    const mentions = new Set(mentioned.map(({ no }) => no));
    const isSound = mentions.size === mentioned.length && mentioned.every(({ no }) => sound.has(no));
    if (pages.has(pageNo) && isSound) continue;
    entities.removePage(pageNo);
    repaired++;
  }
  for (const no of entities.pagesBegun()) {
    if (pages.has(no)) continue;
    entities.removeSeenNames(no);
    repaired++;
  }
  return repaired + readAgain(transaction);
}

/** Pages whose entity job is not theirs, or has ended and left nothing, are found by the next sweep. */
function readAgain(transaction: Transaction): number {
  const { entities, pages, jobs } = transaction;
  let pagesToRead = 0;
  for (const { no } of [...pages.all()]) {
    const page = pages.get(no);
    if (page === undefined || page.entity_job === null) continue;
    const job = jobs.get(page.entity_job);
    const isRead = job?.status !== 'done' || entities.ofPage(no) !== undefined;
    if (job?.page_no === no && isRead) continue;
    pages.put({ ...page, entity_job: null }, page);
    pagesToRead++;
  }
  if (pagesToRead > 0) sweepAgain(transaction);
  return pagesToRead;
}
