/** The audit of entities: rows, lookups and merges against what the pages mention. Only reads. */
import type { Entity } from '../domain/entity.ts';
import { type EntityTally, tallyEntities } from '../domain/entity-tallies.ts';
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
  audit(parts: EntityAuditParts): string[] {
    const rows = new Map([...this.rows.getRange()].map(({ value }) => [value.no, value]));
    const { tallies, pagesOf } = tallyEntities(this.readPages(), this.allMerges(), (no) => rows.get(no)?.type);
    return [
      ...this.#auditPages(parts, rows),
      ...this.#auditRows(parts, rows, tallies),
      ...this.#auditLookups(rows, pagesOf),
      ...this.#auditMerges(parts, rows),
    ];
  }

  /** Names belong to pages, mention existing entities, and each read page has the job that read it. */
  #auditPages({ pages, jobs }: EntityAuditParts, rows: ReadonlyMap<number, Entity>): string[] {
    const findings: string[] = [];
    for (const [no, mentioned] of this.readPages()) {
      if (!pages.has(no)) findings.push(`entities of no page: ${no}`);
      for (const each of mentioned) {
        if (!rows.has(each.no)) findings.push(`page ${no} mentions entity ${each.no}, which is not there`);
      }
      const repeated = mentioned.length - new Set(mentioned.map((each) => each.no)).size;
      if (repeated > 0) findings.push(`page ${no} lists ${repeated} of its entities twice`);
    }
    for (const no of this.pagesBegun()) if (!pages.has(no)) findings.push(`names seen of no page: ${no}`);
    for (const { no, entity_job } of pages.all()) {
      if (entity_job === null) continue;
      const job = jobs.get(entity_job);
      if (job?.page_no !== no)
        findings.push(`page ${no}: its entity job ${entity_job} is not there, or another page's`);
      else if (job.status === 'done' && this.ofPage(no) === undefined) {
        findings.push(`page ${no} was read for entities, and what it mentions is not there`);
      }
    }
    return findings;
  }

  /** Every row says what pages and merges say. */
  #auditRows(
    { nextEntity }: EntityAuditParts,
    rows: ReadonlyMap<number, Entity>,
    tallies: ReadonlyMap<number, EntityTally>,
  ): string[] {
    const findings: string[] = [];
    const keys = new Map<string, number>();
    for (const entity of rows.values()) {
      const { no, type, key } = entity;
      if (no >= nextEntity) findings.push(`entity ${no} has a number that was not given yet`);
      const name = JSON.stringify([type, key]);
      const known = keys.get(name);
      if (known !== undefined) findings.push(`entities ${known} and ${no} are of one type and name`);
      keys.set(name, no);
      const tally = tallies.get(no);
      if (tally === undefined) {
        findings.push(`entity ${no} is mentioned by no page`);
        continue;
      }
      const { page_count, parent, tree_pages } = entity;
      if (page_count !== tally.page_count) {
        findings.push(`entity ${no} counts ${page_count} pages, and ${tally.page_count} mention it`);
      }
      if (!isSame(entity.forms, tally.forms)) findings.push(`entity ${no} has other spellings than its mentions`);
      if (parent !== tally.parent) {
        findings.push(`entity ${no} is below ${parent || 'none'}, and by the merges below ${tally.parent || 'none'}`);
      }
      if (!isSame(entity.children, tally.children)) {
        findings.push(`entity ${no} stands for others than the merges say`);
      }
      if (tree_pages !== tally.tree_pages) {
        findings.push(`entity ${no} counts ${tree_pages} pages with all below it, and there are ${tally.tree_pages}`);
      }
    }
    return findings;
  }

  /** Entities are found by each of their names and by nothing else; their pages are those that mention them. */
  #auditLookups(rows: ReadonlyMap<number, Entity>, pagesOf: ReadonlyMap<number, ReadonlySet<number>>): string[] {
    const findings: string[] = [];
    let links = 0;
    for (const [no, page] of this.pages.getKeys()) {
      if (pagesOf.get(no)?.has(page)) links++;
      else findings.push(`pages by entity: page ${page} does not mention entity ${no}`);
    }
    const mentions = [...pagesOf.values()].reduce((sum, pages) => sum + pages.size, 0);
    if (links !== mentions) findings.push(`pages by entity: ${mentions - links} of ${mentions} are missing`);
    const hashes = new Map([...rows.values()].map((entity) => [entity.no, nameHashes(entity)]));
    let found = 0;
    for (const [hash, no] of this.names.getKeys()) {
      if (hashes.get(no)?.has(hash)) found++;
      else findings.push(`names of entities: one leads to entity ${no}, which is not called so`);
    }
    const names = [...hashes.values()].reduce((sum, each) => sum + each.size, 0);
    if (found !== names) findings.push(`names of entities: ${names - found} of ${names} are missing`);
    return findings;
  }

  /** A merge is of two that are there and is found by both; what was undone stays apart. That rows follow, `#auditRows` sees. */
  #auditMerges({ nextMerge }: EntityAuditParts, rows: ReadonlyMap<number, Entity>): string[] {
    const findings: string[] = [];
    const lookups = new Set<string>();
    const splits = new Set<string>();
    for (const { no, kept, merged, undone_at } of this.allMerges()) {
      if (no >= nextMerge) findings.push(`merge ${no} has a number that was not given yet`);
      for (const side of [kept, merged]) {
        if (!rows.has(side)) findings.push(`merge ${no} is of entity ${side}, which is not there`);
        lookups.add(`${side} ${no}`);
      }
      if (undone_at !== null) splits.add(`${Math.min(kept, merged)} ${Math.max(kept, merged)}`);
      else if (rows.get(merged)?.parent !== kept)
        findings.push(`merge ${no} stands, and ${merged} is not below ${kept}`);
    }
    for (const [entity, merge] of this.mergesOf.getKeys()) {
      if (!lookups.delete(`${entity} ${merge}`)) findings.push(`merges by entity: ${merge} is not of entity ${entity}`);
    }
    for (const each of lookups) findings.push(`merges by entity: ${each} is missing`);
    for (const [lower, higher] of this.splits.getKeys()) {
      if (!splits.delete(`${lower} ${higher}`)) {
        findings.push(`entities ${lower} and ${higher} are kept apart, and no merge of them was undone`);
      }
    }
    for (const each of splits) findings.push(`entities ${each}: their merge was undone, and they are not kept apart`);
    return findings;
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
