/** The mediation `entity`: pages that share entities, weighted by idf. Dates and amounts do not count. */
import { canonicalForm, pageCountOf, pagesOfTree, rootOf, treeOf } from '../../commands/entity-trees.ts';
import type { Entity } from '../../domain/entity.ts';
import type { EntityReader } from '../../store/entities.ts';
import { entityIdf } from './find-entities.ts';

export interface SharingPage {
  page_no: number;
  /** Idf of the shared entities, as a share of the idf of all entities of the given pages: 0 to 1. */
  score: number;
  /** Names of the shared entities, rarest first. */
  shared: string[];
}

export const uncountedTypes: ReadonlySet<string> = new Set(['date', 'amount']);
/** Max links to pages that are followed: a few ms. */
const maxLinks = 3000;

/** Best first. `passes` filters the pages; it is called until k pages have passed. */
export function pagesSharing(
  entities: EntityReader,
  pageNos: readonly number[],
  { k, passes }: { k: number; passes: (pageNo: number) => boolean },
): SharingPage[] {
  const weighted = weighRoots(entities, pageNos);
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  const found = new Map<number, { weight: number; shared: Entity[] }>();
  let links = 0;
  for (const { root, weight } of weighted) {
    links += pageCountOf(root);
    if (links > maxLinks) break;
    for (const page of pagesOfTree(entities, root)) {
      const each = found.get(page) ?? { weight: 0, shared: [] };
      each.weight += weight;
      each.shared.push(root);
      found.set(page, each);
    }
  }
  const given = new Set(pageNos);
  const results: SharingPage[] = [];
  for (const [page_no, { weight, shared }] of [...found].sort(([a, x], [b, y]) => y.weight - x.weight || a - b)) {
    if (results.length === k) break;
    if (given.has(page_no) || !passes(page_no)) continue;
    results.push({ page_no, score: weight / total, shared: shared.map(canonicalForm) });
  }
  return results;
}

/** Min idf of a distinctive entity: at most one page in three mentions it, as idf is ln(1 + pages / n). */
const telling = Math.log(4);

/** Finds distinctive names that two pages share, rarest first. Reads only the rows of these names. */
export function namesSharedWith(entities: EntityReader, pageNo: number): (otherNo: number, count: number) => string[] {
  let own: ReadonlyMap<number, Entity> | undefined;
  return (otherNo, count) => {
    own ??= membersOf(entities, rootsOf(entities, pageNo).values());
    const shared = new Set((entities.ofPage(otherNo) ?? []).flatMap(({ no }) => own?.get(no) ?? []));
    return byIdf(entities, [...shared])
      .filter(({ idf }) => idf >= telling)
      .slice(0, count)
      .map(({ root }) => canonicalForm(root));
  };
}

/** The roots of these merge trees, by the number of each entity in the tree. */
function membersOf(entities: EntityReader, roots: Iterable<Entity>): Map<number, Entity> {
  const members = new Map<number, Entity>();
  for (const root of roots) for (const { no } of treeOf(entities, root)) members.set(no, root);
  return members;
}

/** The roots that the pages mention, with their weights, rarest first. */
function weighRoots(
  entities: EntityReader,
  pageNos: readonly number[],
): { root: Entity; idf: number; weight: number }[] {
  const times = new Map<number, number>();
  const roots = new Map<number, Entity>();
  for (const pageNo of pageNos) {
    for (const [no, root] of rootsOf(entities, pageNo)) {
      roots.set(no, root);
      times.set(no, (times.get(no) ?? 0) + 1);
    }
  }
  return byIdf(entities, [...roots.values()]).map((each) => ({
    ...each,
    weight: each.idf * (times.get(each.root.no) ?? 0),
  }));
}

/** The roots that a page mentions, by number, without dates and amounts. */
function rootsOf(entities: EntityReader, pageNo: number): Map<number, Entity> {
  const roots = new Map<number, Entity>();
  for (const { no } of entities.ofPage(pageNo) ?? []) {
    const entity = entities.get(no);
    if (entity === undefined || uncountedTypes.has(entity.type)) continue;
    const root = rootOf(entities, entity);
    roots.set(root.no, root);
  }
  return roots;
}

function byIdf(entities: EntityReader, roots: readonly Entity[]): { root: Entity; idf: number }[] {
  const weighed = roots.map((root) => ({ root, idf: entityIdf(entities, root) ?? 0 }));
  return weighed.sort((a, b) => b.idf - a.idf || a.root.no - b.root.no);
}
