/**
 * Entities, what each page mentions, and merges. The mentions are the truth; an entity's row counts them.
 *
 * Databases: `entities` no → row; `page_entities` page → what it mentions, for every page that was read; `entity_pages`
 * [entity, page]; `entity_names` [hash of a folded spelling, entity]; `entity_merges` no → merge; `merges_of_entity` [entity, merge];
 * `entity_splits` [lower, higher] → 0: entities whose merge was undone; `entity_state` name → number; `seen_names` page → the names in its
 * first chunks, until the encoder has seen all of them.
 */
import type { NameSpans } from '../compute/text/name-tags.ts';
import type { Entity, EntityMerge, PageEntity } from '../domain/entity.ts';
import { foldName } from '../domain/normalize-text.ts';
import { entriesOf } from './environment.ts';
import { hashKey, NumberedRecords, numbered, pairsOf } from './records.ts';

/**
 * `swept_version`, `swept_to`: the recognizer's version and the last page of the sweep; `rereading`: whether pages are
 * read again; `unmatched`: entities added or split off since the job `matching_job` searched for merges.
 */
export type EntityStateName = 'swept_version' | 'swept_to' | 'rereading' | 'unmatched' | 'matching_job';

export interface SeenNames {
  /** The first label of the page; `chunks`: how many were read so far. */
  first: number;
  chunks: number;
  names: NameSpans;
}

const end = Number.MAX_SAFE_INTEGER;

export class EntityReader extends NumberedRecords<Entity> {
  protected readonly rows = this.table<Entity, number>('entities', numbered);
  protected readonly byPage = this.table<PageEntity[], number>('page_entities', numbered);
  protected readonly pages = this.table<number, [number, number]>('entity_pages');
  protected readonly names = this.table<number, [string, number]>('entity_names');
  protected readonly mergeRows = this.table<EntityMerge, number>('entity_merges', numbered);
  protected readonly mergesOf = this.table<number, [number, number]>('merges_of_entity');
  protected readonly splits = this.table<number, [number, number]>('entity_splits');
  protected readonly states = this.table<number, string>('entity_state');
  protected readonly seen = this.table<SeenNames, number>('seen_names', numbered);

  count(): number {
    return entriesOf(this.rows);
  }

  listAfter(after: number, limit: number): Entity[] {
    return [...this.rows.getRange({ start: after + 1, limit })].map(({ value }) => value);
  }

  /** Mentions of a page in the order of its text; undefined if it was not read yet. */
  ofPage(pageNo: number): PageEntity[] | undefined {
    return this.byPage.get(pageNo);
  }

  seenNames(pageNo: number): SeenNames | undefined {
    return this.seen.get(pageNo);
  }

  pagesBegun(): number[] {
    return [...this.seen.getKeys()];
  }

  *readPages(): Generator<[pageNo: number, mentioned: PageEntity[]]> {
    for (const { key, value } of this.byPage.getRange()) yield [key, value];
  }

  pagesRead(): number {
    return entriesOf(this.byPage);
  }

  /** Pages that mention this entity itself, ascending. */
  pagesOf(no: number): number[] {
    return [...this.pages.getKeys(pairsOf(no))].map(([, page]) => page);
  }

  mentions(no: number, pageNo: number): boolean {
    return this.pages.doesExist([no, pageNo]);
  }

  /** Entities with a spelling that is equal after folding, ascending. */
  named(name: string): Entity[] {
    const hashed = hashKey(foldName(name));
    const numbers = [...this.names.getKeys({ start: [hashed, 0], end: [hashed, end] })].map(([, no]) => no);
    return numbers.flatMap((no) => this.rows.get(no) ?? []);
  }

  find(type: string, key: string): Entity | undefined {
    return this.named(key).find((entity) => entity.type === type && entity.key === key);
  }

  merge(no: number): EntityMerge | undefined {
    return this.mergeRows.get(no);
  }

  /** Oldest first. */
  allMerges(): EntityMerge[] {
    return [...this.mergeRows.getRange()].map(({ value }) => value);
  }

  /** Newest first, at most `limit`. */
  merges(limit: number): EntityMerge[] {
    return [...this.mergeRows.getRange({ reverse: true, limit })].map(({ value }) => value);
  }

  latestMerge(): EntityMerge | undefined {
    for (const { value } of this.mergeRows.getRange({ reverse: true })) if (value.undone_at === null) return value;
    return undefined;
  }

  mergesOfEntity(no: number): number[] {
    return [...this.mergesOf.getKeys(pairsOf(no))].map(([, merge]) => merge);
  }

  areSplit(a: number, b: number): boolean {
    return this.splits.doesExist([Math.min(a, b), Math.max(a, b)]);
  }

  hasSplits(): boolean {
    return entriesOf(this.splits) > 0;
  }

  state(name: EntityStateName): number {
    return this.states.get(name) ?? 0;
  }
}

export class EntityTransactor extends EntityReader {
  /** Store the next version of a row. `before` is the version it replaces; undefined for a new entity. */
  put(entity: Entity, before: Entity | undefined): void {
    if (before === undefined || !sameForms(before, entity)) {
      const had = before === undefined ? new Set<string>() : nameHashes(before);
      const has = nameHashes(entity);
      for (const name of had) if (!has.has(name)) this.names.remove([name, entity.no]);
      for (const name of has) if (!had.has(name)) this.names.put([name, entity.no], 0);
    }
    this.rows.put(entity.no, entity);
  }

  remove(entity: Entity): void {
    for (const name of nameHashes(entity)) this.names.remove([name, entity.no]);
    for (const no of this.mergesOfEntity(entity.no)) this.removeMerge(no);
    if (this.hasSplits()) {
      for (const [a, b] of [...this.splits.getKeys()]) {
        if (a === entity.no || b === entity.no) this.splits.remove([a, b]);
      }
    }
    this.rows.remove(entity.no);
  }

  putPage(pageNo: number, mentioned: PageEntity[]): void {
    this.byPage.put(pageNo, mentioned);
  }

  removePage(pageNo: number): void {
    this.byPage.remove(pageNo);
  }

  putSeenNames(pageNo: number, seen: SeenNames): void {
    this.seen.put(pageNo, seen);
  }

  removeSeenNames(pageNo: number): void {
    this.seen.remove(pageNo);
  }

  link(no: number, pageNo: number): void {
    this.pages.put([no, pageNo], 0);
  }

  unlink(no: number, pageNo: number): void {
    this.pages.remove([no, pageNo]);
  }

  putMerge(merge: EntityMerge): void {
    this.mergeRows.put(merge.no, merge);
    this.mergesOf.put([merge.kept, merge.no], 0);
    this.mergesOf.put([merge.merged, merge.no], 0);
  }

  split(a: number, b: number): void {
    this.splits.put([Math.min(a, b), Math.max(a, b)], 0);
  }

  setState(name: EntityStateName, value: number): void {
    this.states.put(name, value);
  }

  removeMerge(no: number): void {
    const merge = this.mergeRows.get(no);
    if (merge === undefined) return;
    this.mergeRows.remove(no);
    this.mergesOf.remove([merge.kept, no]);
    this.mergesOf.remove([merge.merged, no]);
  }
}

export function nameHashes({ forms }: Pick<Entity, 'forms'>): Set<string> {
  return new Set(forms.map(([form]) => hashKey(foldName(form))));
}

/** Usually only the counts of a row change. */
function sameForms(a: Entity, b: Entity): boolean {
  if (a.forms.length !== b.forms.length) return false;
  const forms = new Set(a.forms.map(([form]) => form));
  return b.forms.every(([form]) => forms.has(form));
}
