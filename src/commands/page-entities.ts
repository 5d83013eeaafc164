/** Stores the entities of a page. Counts change in the same transaction; entities that no page mentions are deleted. */
import type { NameSpans } from '../compute/text/name-tags.ts';
import { type MentionedName, namesOfPage } from '../compute/text/page-names.ts';
import type { Entity, PageEntity } from '../domain/entity.ts';
import { byCount } from '../domain/entity-tallies.ts';
import type { Job } from '../domain/job.ts';
import type { Page } from '../domain/page.ts';
import type { SeenNames } from '../store/entities.ts';
import type { Command, Transaction } from '../store/store.ts';
import { pagesOfTree, rootOf } from './entity-trees.ts';
import { noteNewEntities } from './match-entities.ts';
import { createJob, type JobPolicy, moveJob } from './move-job.ts';

/** Increase it to have every page read again. */
const recognizerVersion = 8;

/** Queue the reading of a page that was just indexed. An earlier job that still waits will read the same text. */
export function queueExtraction(transaction: Transaction, pageNo: number, isEnabled = true): void {
  if (!isEnabled) {
    sweepAgain(transaction);
    return;
  }
  const page = transaction.pages.get(pageNo);
  if (page === undefined) return;
  const earlier = page.entity_job === null ? undefined : transaction.jobs.get(page.entity_job);
  const indexed = transaction.jobs.get(page.index_job);
  const at = page.indexed_at ?? indexed?.updated_at ?? page.last_seen_at;
  if (earlier?.status === 'pending' || earlier?.status === 'failed') serveIfSeen(transaction, page, earlier, at);
  else queueJob(transaction, page, { at, max_attempts: indexed?.max_attempts ?? 1 });
}

function queueJob(transaction: Transaction, page: Page, policy: JobPolicy): void {
  const job = createJob(transaction, { kind: 'extract_entities', page_no: page.no, ...policy });
  const queued = { ...page, entity_job: job.no };
  transaction.pages.put(queued, page);
  serveIfSeen(transaction, queued, job, policy.at);
}

/** One step of the sweep over pages indexed without entities, or by an earlier recognizer. True if more follow. */
export function sweepPages(limit: number, policy: JobPolicy): Command<boolean> {
  return (transaction) => {
    const { entities, pages, jobs } = transaction;
    const version = entities.state('swept_version');
    if (version !== recognizerVersion) {
      entities.setState('swept_version', recognizerVersion);
      entities.setState('rereading', version === 0 ? 0 : 1);
      entities.setState('swept_to', 0);
    }
    const from = entities.state('swept_to');
    if (from === sweepDone) return false;
    const isRereading = entities.state('rereading') === 1;
    const some = pages.numbersAfter(from, limit);
    for (const no of some) {
      const page = pages.get(no);
      if (page?.status !== 'indexed') continue;
      const job = page.entity_job === null ? undefined : jobs.get(page.entity_job);
      if (job === undefined || (isRereading && job.status === 'done')) queueJob(transaction, page, policy);
    }
    const isLast = some.length < limit;
    entities.setState('swept_to', isLast ? sweepDone : some[some.length - 1]);
    return !isLast;
  };
}

/** Examine all pages again. Pages already read are read again only if an unfinished sweep does so. */
function sweepAgain({ entities }: Transaction): void {
  const from = entities.state('swept_to');
  if (from === 0) return;
  if (from === sweepDone) entities.setState('rereading', 0);
  entities.setState('swept_to', 0);
}

const sweepDone = 0xffffffff;

export interface NamesInChunks {
  page_no: number;
  /** First label of the content in which these names were found. */
  first: number;
  /** Number of chunks of the page; `ordinals`: chunks with these names, ascending. */
  count: number;
  ordinals: readonly number[];
  names: NameSpans;
}

/** Stores names found with vectors. After a page's last chunk, its reading is done, even if its job is queued later. */
export function noteNames(
  transaction: Transaction,
  { page_no, first, count, ordinals, names }: NamesInChunks,
  at: number,
): void {
  const { entities, jobs, pages } = transaction;
  const page = pages.get(page_no);
  if (page === undefined) return;
  const job = page.entity_job === null ? undefined : jobs.get(page.entity_job);
  if (page.status === 'indexed' && (job?.status === 'done' || job?.status === 'dead')) return;
  const [from] = ordinals;
  const before = from === 0 ? undefined : entities.seenNames(page_no);
  if (from !== 0 && (before?.first !== first || before.chunks !== from)) return;
  const chunks = from + ordinals.length;
  entities.putSeenNames(page_no, { first, chunks, names: [...(before?.names ?? []), ...names] });
  if (chunks === count && job !== undefined) serveIfSeen(transaction, page, job, at);
}

function serveIfSeen(transaction: Transaction, page: Page, job: Job, at: number): void {
  const seen = page.chunk_count === 0 ? { names: [] } : wholeNames(transaction, page);
  if (seen === undefined || moveJob(transaction, job, { type: 'served', at }) === null) return;
  storeNames(transaction, page, seen.names, { at, max_attempts: job.max_attempts });
}

function wholeNames({ entities }: Transaction, { no, first_label, chunk_count }: Page): SeenNames | undefined {
  const seen = entities.seenNames(no);
  return seen?.first === first_label && seen.chunks === chunk_count ? seen : undefined;
}

export function storeNames(transaction: Transaction, page: Page, names: NameSpans, policy: JobPolicy): void {
  const found = namesOfPage(page.title, transaction.pages.body(page.no) ?? '', names);
  const fresh = storePageEntities(transaction, page.no, found);
  transaction.entities.removeSeenNames(page.no);
  noteNewEntities(transaction, fresh, policy);
}

/** Stores the entities found in a page. Returns the number of new entities. */
export function storePageEntities(transaction: Transaction, pageNo: number, found: readonly MentionedName[]): number {
  const { entities, counters } = transaction;
  const before = entities.ofPage(pageNo) ?? [];
  const known = new Map<number, Entity>();
  const after = found.map(({ type, key, forms }): PageEntity => {
    const entity = entities.find(type, key);
    if (entity !== undefined) known.set(entity.no, entity);
    return { no: entity?.no ?? counters.take('entity'), forms };
  });
  const fresh = new Map<number, Entity>();
  for (const [at, { no }] of after.entries()) {
    const { type, key } = found[at];
    if (known.has(no)) continue;
    fresh.set(no, { no, type, key, forms: [], page_count: 0, parent: 0, children: [], tree_pages: 0 });
  }
  countPage(transaction, pageNo, { before, after, known, fresh });
  entities.putPage(pageNo, after);
  return fresh.size;
}

export function removePageEntities(transaction: Transaction, pageNo: number): void {
  transaction.entities.removeSeenNames(pageNo);
  const before = transaction.entities.ofPage(pageNo);
  if (before === undefined) return;
  countPage(transaction, pageNo, { before, after: [], known: new Map(), fresh: new Map() });
  transaction.entities.removePage(pageNo);
}

interface PageChange {
  before: readonly PageEntity[];
  after: readonly PageEntity[];
  /** Rows that were read already, as stored. */
  known: Map<number, Entity>;
  fresh: ReadonlyMap<number, Entity>;
}

/** Reads and writes each row once: a page mentions some hundred entities, and readers wait meanwhile. */
function countPage(transaction: Transaction, pageNo: number, { before, after, known, fresh }: PageChange): void {
  const { entities } = transaction;
  const read = (no: number): Entity | undefined => {
    const row = known.get(no) ?? entities.get(no);
    if (row !== undefined) known.set(no, row);
    return row;
  };
  const lost = new Map(before.map(({ no, forms }) => [no, forms]));
  const gained = new Map(after.map(({ no, forms }) => [no, forms]));
  const rootsBefore = rootsWithChildren(lost.keys(), read);
  const rootsAfter = rootsWithChildren(gained.keys(), read);
  const changed = new Map<number, Entity>();
  for (const no of new Set([...lost.keys(), ...gained.keys()])) {
    const entity = fresh.get(no) ?? read(no);
    if (entity === undefined) continue;
    const forms = countedForms(entity.forms, lost.get(no) ?? [], gained.get(no) ?? []);
    const pages = entity.page_count + Number(gained.has(no)) - Number(lost.has(no));
    changed.set(no, { ...entity, forms, page_count: pages });
    if (!gained.has(no)) entities.unlink(no, pageNo);
    else if (!lost.has(no)) entities.link(no, pageNo);
  }
  for (const no of new Set([...rootsBefore, ...rootsAfter])) {
    const change = Number(rootsAfter.has(no)) - Number(rootsBefore.has(no));
    const root = changed.get(no) ?? read(no);
    if (change !== 0 && root !== undefined) changed.set(no, { ...root, tree_pages: root.tree_pages + change });
  }
  for (const [no, entity] of changed) entities.put(entity, fresh.has(no) ? undefined : known.get(no));
  for (const no of lost.keys()) {
    const entity = changed.get(no)?.page_count === 0 ? entities.get(no) : undefined;
    if (entity !== undefined) removeEntity(transaction, entity);
  }
}

/** Roots of merged entities that a page mentions through these numbers. */
function rootsWithChildren(numbers: Iterable<number>, read: (no: number) => Entity | undefined): Set<number> {
  const roots = new Set<number>();
  for (const no of numbers) {
    const entity = read(no);
    if (entity === undefined) continue;
    const root = rootOf({ get: read }, entity);
    if (root.children.length > 0) roots.add(root.no);
  }
  return roots;
}

type Forms = Entity['forms'];

function countedForms(forms: Forms, lost: PageEntity['forms'], gained: PageEntity['forms']): Forms {
  const counts = new Map(forms);
  const add = (some: PageEntity['forms'], sign: 1 | -1) => {
    for (const [form, places] of some) counts.set(form, (counts.get(form) ?? 0) + (sign * places.length) / 2);
  };
  add(lost, -1);
  add(gained, 1);
  return [...counts].filter(([, count]) => count > 0).sort(byCount);
}

/** Deletes an entity that no page mentions. Entities merged into it become independent. */
function removeEntity(transaction: Transaction, entity: Entity): void {
  const { entities } = transaction;
  const root = rootOf(entities, entity);
  for (const no of entity.children) {
    const child = entities.get(no);
    if (child === undefined) continue;
    const alone = { ...child, parent: 0 };
    entities.put({ ...alone, tree_pages: treePages(transaction, alone) }, child);
  }
  entities.setState('unmatched', entities.state('unmatched') + entity.children.length);
  const parent = entities.get(entity.parent);
  if (parent !== undefined) {
    entities.put({ ...parent, children: parent.children.filter((no) => no !== entity.no) }, parent);
  }
  entities.remove(entity);
  const remaining = root.no === entity.no ? undefined : entities.get(root.no);
  if (remaining !== undefined) {
    entities.put({ ...remaining, tree_pages: treePages(transaction, remaining) }, remaining);
  }
}

export function treePages({ entities }: Transaction, entity: Entity): number {
  return entity.parent !== 0 || entity.children.length === 0 ? 0 : pagesOfTree(entities, entity).length;
}
