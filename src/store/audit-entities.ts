/** Audits entities: compares rows, look-ups and merges with the mentions of the pages. Only reads. */
import type { Entity } from '../domain/entity.ts';
import { type EntityTally, tallyEntities } from '../domain/entity-tallies.ts';
import { auditIndex } from './audit-watches.ts';
import { EntityReader, nameHashes } from './entities.ts';
import type { JobReader } from './jobs.ts';
import type { PageReader } from './pages.ts';

export interface EntityAuditParts {
  pages: PageReader;
  jobs: JobReader;
  nextEntity: number;
  nextMerge: number;
}

export class EntityAuditor extends EntityReader {
  *audit(parts: EntityAuditParts): Generator<string> {
    const rows = new Map([...this.rows.getRange()].map(({ value }) => [value.no, value]));
    const { tallies, pagesOf } = tallyEntities(this.readPages(), this.allMerges(), (no) => rows.get(no)?.type);
    yield* this.#auditPages(parts, rows);
    yield* this.#auditRows(parts, rows, tallies);
    yield* this.#auditLookups(rows, pagesOf);
    yield* this.#auditMerges(parts, rows);
  }

  /** Names belong to pages and mention existing entities. Each page that was read has the job that read it. */
  *#auditPages({ pages, jobs }: EntityAuditParts, rows: ReadonlyMap<number, Entity>): Generator<string> {
    for (const [no, mentioned] of this.readPages()) {
      if (!pages.has(no)) yield `entities of a missing page: ${no}`;
      for (const each of mentioned) {
        if (!rows.has(each.no)) yield `page ${no} mentions entity ${each.no}, which is missing`;
      }
      const repeated = mentioned.length - new Set(mentioned.map((each) => each.no)).size;
      if (repeated > 0) yield `page ${no} lists ${repeated} of its entities twice`;
    }
    for (const no of this.pagesBegun()) if (!pages.has(no)) yield `names seen of a missing page: ${no}`;
    for (const { no, entity_job } of pages.all()) {
      if (entity_job === null) continue;
      const job = jobs.get(entity_job);
      if (job?.page_no !== no) yield `page ${no}: its entity job ${entity_job} is missing, or belongs to another page`;
      else if (job.status === 'done' && this.ofPage(no) === undefined) {
        yield `page ${no} was read for entities, but its mentions are missing`;
      }
    }
  }

  /** Every row agrees with pages and merges. */
  *#auditRows(
    { nextEntity }: EntityAuditParts,
    rows: ReadonlyMap<number, Entity>,
    tallies: ReadonlyMap<number, EntityTally>,
  ): Generator<string> {
    const keys = new Map<string, number>();
    for (const entity of rows.values()) {
      const { no, type, key } = entity;
      if (no >= nextEntity) yield `entity ${no} has a number that is not assigned yet`;
      const name = JSON.stringify([type, key]);
      const known = keys.get(name);
      if (known !== undefined) yield `entities ${known} and ${no} are of one type and name`;
      keys.set(name, no);
      const tally = tallies.get(no);
      if (tally === undefined) {
        yield `entity ${no} is mentioned by no page`;
        continue;
      }
      const { page_count, parent, tree_pages } = entity;
      if (page_count !== tally.page_count)
        yield `entity ${no} counts ${page_count} pages, and ${tally.page_count} mention it`;
      if (!isSame(entity.forms, tally.forms)) yield `entity ${no} has other spellings than its mentions`;
      if (parent !== tally.parent)
        yield `entity ${no} is below ${parent || 'none'}, and by the merges below ${tally.parent || 'none'}`;
      if (!isSame(entity.children, tally.children)) yield `entity ${no} stands for others than the merges say`;
      if (tree_pages !== tally.tree_pages)
        yield `entity ${no} counts ${tree_pages} pages with all below it, but there are ${tally.tree_pages}`;
    }
  }

  /** Each name leads to its entities, and nothing else does. An entity's pages are those that mention it. */
  *#auditLookups(
    rows: ReadonlyMap<number, Entity>,
    pagesOf: ReadonlyMap<number, ReadonlySet<number>>,
  ): Generator<string> {
    let links = 0;
    for (const [no, page] of this.pages.getKeys()) {
      if (pagesOf.get(no)?.has(page)) links++;
      else yield `pages by entity: page ${page} does not mention entity ${no}`;
    }
    const mentions = [...pagesOf.values()].reduce((sum, pages) => sum + pages.size, 0);
    if (links !== mentions) yield `pages by entity: ${mentions - links} of ${mentions} are missing`;
    const hashes = new Map([...rows.values()].map((entity) => [entity.no, nameHashes(entity)]));
    let found = 0;
    for (const [hash, no] of this.names.getKeys()) {
      if (hashes.get(no)?.has(hash)) found++;
      else yield `names of entities: one leads to entity ${no}, which does not have this name`;
    }
    const names = [...hashes.values()].reduce((sum, each) => sum + each.size, 0);
    if (found !== names) yield `names of entities: ${names - found} of ${names} are missing`;
  }

  /** A merge joins two existing entities and is found by both. Undone merges stay apart. `#auditRows` checks rows. */
  *#auditMerges({ nextMerge }: EntityAuditParts, rows: ReadonlyMap<number, Entity>): Generator<string> {
    const lookups: [entity: number, merge: number][] = [];
    const splits: [lower: number, higher: number][] = [];
    for (const { no, kept, merged, undone_at } of this.allMerges()) {
      if (no >= nextMerge) yield `merge ${no} has a number that is not assigned yet`;
      for (const side of [kept, merged]) {
        if (!rows.has(side)) yield `merge ${no} is of entity ${side}, which is missing`;
        lookups.push([side, no]);
      }
      if (undone_at !== null) splits.push([Math.min(kept, merged), Math.max(kept, merged)]);
      else if (rows.get(merged)?.parent !== kept) yield `merge ${no} is not undone, but ${merged} is not below ${kept}`;
    }
    yield* auditIndex('merges by entity', lookups, this.mergesOf.getKeys());
    yield* auditIndex('entities kept apart', splits, this.splits.getKeys());
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
