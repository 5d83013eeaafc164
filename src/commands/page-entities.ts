/**
 * What a page mentions, stored and taken away. Counts follow in the same transaction, so the rows of entities always say what the
 * mentions say, and an entity that no page mentions any more is gone, with its merges: what was merged into it stands alone again.
 */
import type { RecognizedEntity } from '../compute/entities/recognize-entities.ts';
import type { Entity, PageEntity } from '../domain/entity.ts';
import { byCount } from '../domain/entity-tallies.ts';
import { foldName } from '../domain/fold-name.ts';
import type { Page } from '../domain/page.ts';
import type { Command, Transaction } from '../store/store.ts';
import { pagesOfTree, rootOf } from './entity-trees.ts';
import { createJob } from './move-job.ts';

/** Raised when a new recogniser should read every page again. */
export const recognizerVersion = 1;

/** Queue the reading of a page that was indexed just now. An earlier job that still waits will read the same text. */
export function queueExtraction(transaction: Transaction, pageNo: number): void {
  const page = transaction.pages.get(pageNo);
  if (page === undefined) return;
  const earlier = page.entity_job === null ? undefined : transaction.jobs.get(page.entity_job);
  if (earlier?.status === 'pending' || earlier?.status === 'failed') return;
  const indexed = transaction.jobs.get(page.index_job);
  const at = page.indexed_at ?? indexed?.updated_at ?? page.last_seen_at;
  queueJob(transaction, page, { at, max_attempts: indexed?.max_attempts ?? 1 });
}

function queueJob(transaction: Transaction, page: Page, policy: { at: number; max_attempts: number }): void {
  const job = createJob(transaction, { kind: 'extract_entities', page_no: page.no, ...policy });
  transaction.pages.put({ ...page, entity_job: job.no }, page);
}

/**
 * Queue the next pages that were indexed before entities were asked for, or that an earlier recogniser read: one step of the
 * sweep, whose place is stored with it. True when there are more.
 */
export function sweepPages(limit: number, policy: { at: number; max_attempts: number }): Command<boolean> {
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

/** No page has this number. */
const sweepDone = 0xffffffff;

/** Replace what a page mentions. Gives the number of entities that were not known before. */
export function storePageEntities(
  transaction: Transaction,
  pageNo: number,
  body: string,
  found: readonly RecognizedEntity[],
): number {
  const { entities } = transaction;
  const before = entities.ofPage(pageNo) ?? [];
  const mentioned: PageEntity[] = [];
  let fresh = 0;
  for (const { name, type, mentions } of found) {
    const key = foldName(name);
    const forms = new Map<string, number[]>();
    for (const { start, end } of mentions) {
      const form = body.slice(start, end).replace(/\s+/g, ' ');
      const places = forms.get(form);
      if (places === undefined) forms.set(form, [start, end]);
      else places.push(start, end);
    }
    let entity = entities.find(type, key);
    if (entity === undefined) {
      fresh++;
      entity = {
        no: transaction.counters.take('entity'),
        type,
        key,
        forms: [],
        page_count: 0,
        parent: 0,
        children: [],
        tree_pages: 0,
      };
      // Found again by its key within this page already.
      entities.put({ ...entity, forms: [[name, 0]] }, undefined);
    }
    const no = entity.no;
    const known = mentioned.find((each) => each.no === no);
    if (known === undefined) mentioned.push({ no, forms: [...forms] });
    else known.forms.push(...forms);
  }
  countPage(transaction, pageNo, before, mentioned);
  entities.putPage(pageNo, mentioned);
  return fresh;
}

/** Take away what a page mentions. */
export function removePageEntities(transaction: Transaction, pageNo: number): void {
  const before = transaction.entities.ofPage(pageNo);
  if (before === undefined) return;
  countPage(transaction, pageNo, before, []);
  transaction.entities.removePage(pageNo);
}

function countPage(
  transaction: Transaction,
  pageNo: number,
  before: readonly PageEntity[],
  after: readonly PageEntity[],
): void {
  const { entities } = transaction;
  const rootsBefore = rootsWithChildren(transaction, before);
  const numbers = new Set([...before, ...after].map(({ no }) => no));
  for (const no of numbers) {
    const entity = entities.get(no);
    if (entity === undefined) continue;
    const lost = before.find((each) => each.no === no);
    const gained = after.find((each) => each.no === no);
    const forms = countedForms(entity.forms, lost?.forms ?? [], gained?.forms ?? []);
    const pages = entity.page_count + Number(gained !== undefined) - Number(lost !== undefined);
    entities.put({ ...entity, forms, page_count: pages }, entity);
    if (gained === undefined) entities.unlink(no, pageNo);
    else if (lost === undefined) entities.link(no, pageNo);
  }
  const rootsAfter = rootsWithChildren(transaction, after);
  for (const no of new Set([...rootsBefore, ...rootsAfter])) {
    const change = Number(rootsAfter.has(no)) - Number(rootsBefore.has(no));
    const root = entities.get(no);
    if (change !== 0 && root !== undefined) entities.put({ ...root, tree_pages: root.tree_pages + change }, root);
  }
  for (const no of numbers) {
    const entity = entities.get(no);
    if (entity !== undefined && entity.page_count === 0) removeEntity(transaction, entity);
  }
}

function rootsWithChildren({ entities }: Transaction, mentioned: readonly PageEntity[]): Set<number> {
  const roots = new Set<number>();
  for (const { no } of mentioned) {
    const entity = entities.get(no);
    if (entity === undefined) continue;
    const root = rootOf(entities, entity);
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

/** An entity that nothing mentions goes; what was merged into it stands alone. */
function removeEntity(transaction: Transaction, entity: Entity): void {
  const { entities } = transaction;
  const root = rootOf(entities, entity);
  for (const no of entity.children) {
    const child = entities.get(no);
    if (child === undefined) continue;
    const alone = { ...child, parent: 0 };
    entities.put({ ...alone, tree_pages: treePages(transaction, alone) }, child);
  }
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

/** `tree_pages` as it has to be. */
export function treePages({ entities }: Transaction, entity: Entity): number {
  return entity.parent !== 0 || entity.children.length === 0 ? 0 : pagesOfTree(entities, entity).length;
}
