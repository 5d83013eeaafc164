/**
 * Restores what Readability drops: blocks between kept ones, code and long prose around them, similar sections. Blocks
 * are listed before and found afterwards by their text nodes, which Readability moves but does not copy.
 */
import { grouped } from '../structures/grouped.ts';
import { isCall, isCredit, isFact, isLabel, isLabelled } from './boilerplate-lines.ts';
import { isOfComments } from './boilerplate-signs.ts';
import { longestNamed } from './clear-page.ts';
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';
import { readingLength } from './readable-text.ts';
import { type Block, blocksOf, folded, isLinkedSentence, isLoneSentence } from './trim-article.ts';

const templateElements = new Set(['footer', 'form', 'nav']);
const largestLinkShare = 0.3;
/** Min blocks of prose in a section whose depth differs from that of the article's sections. */
const leastProse = 3;
const leastRows = 3;
const leastCells = 6;

/** Depth of document, `html` and `body`. Next to an article there, a page has its footer and its questions. */
const bodyDepth = 3;
/** Elements that only group others. */
const wrappers = new Set(['div', 'section']);
/** Elements restored as a whole if nothing else is in them. */
const wholes = new Set('ul ol li dl table thead tbody tfoot tr blockquote pre code'.split(' '));

export interface PageBlocks {
  blocks: readonly Block[];
  /** By index: number of ancestors that a block shares with the next one. */
  shared: readonly number[];
  /** By heading: names of its ancestors, with and without wrappers, and the element of its section. */
  sections: ReadonlyMap<Block, { shape: string; kind: string; around: DomNode | null; blocks: Block[] }>;
  tables: ReadonlyMap<Block, DomNode>;
  templates: ReadonlyMap<Block, readonly DomNode[]>;
}

/** The blocks of a page before Readability. Linear in the sum of depths. */
export function listBlocks(root: DomNode): PageBlocks {
  const blocks = blocksOf(root);
  const sections = new Map<Block, { shape: string; kind: string; around: DomNode | null; blocks: Block[] }>();
  const tables = new Map<Block, DomNode>();
  const templates = new Map<Block, DomNode[]>();
  const shared: number[] = [];
  let open: Block[] = [];
  let before: DomNode[] = [];
  for (const block of blocks) {
    const path = ancestorsOf(block.node);
    let common = 0;
    while (common < path.length && path.at(-1 - common) === before.at(-1 - common)) common++;
    if (before.length > 0) shared.push(common);
    before = path;
    const table = path.find(({ localName }) => localName === 'table');
    if (table !== undefined) tables.set(block, table);
    const around = path.filter(isTemplate);
    if (around.length > 0) templates.set(block, around);
    const inPath = new Set(path);
    open = open.filter((heading) => inPath.has(sections.get(heading)?.around ?? heading.node));
    if (block.isHeading) {
      const names = path.map(({ localName }) => localName);
      const shape = names.join('/');
      const kind = names.filter((name) => !wrappers.has(name)).join('/');
      open = open.filter((heading) => heading.node.localName < block.node.localName);
      sections.set(block, { shape, kind, around: block.node.parentNode, blocks: [] });
      open.push(block);
    } else for (const heading of open) sections.get(heading)?.blocks.push(block);
  }
  return { blocks, shared, sections, tables, templates };
}

/** Put missing blocks back into `content`, Readability's result. Linear in the sum of depths. */
export function restoreBlocks(content: DomNode, page: PageBlocks, title: string | null): void {
  const { blocks } = page;
  const kept = keptTexts(content, blocks);
  const first = blocks.findIndex((block) => kept.has(block));
  const last = blocks.findLastIndex((block) => kept.has(block));
  if (first < 0) return;
  const missed = new Set([...missedAround(page, kept, first, last, title), ...missedSections(page, kept, first, last)]);
  if (missed.size > 0) putBack(content, blocks, kept, missed);
}

/** Text nodes of kept blocks. If Readability tried several times, it copied the page; then texts are compared. */
function keptTexts(content: DomNode, blocks: readonly Block[]): Map<Block, DomNode[]> {
  const texts = new Set<DomNode>();
  walkTree(content, (node) => {
    if (node.nodeType === textNode) texts.add(node);
    return true;
  });
  const kept = new Map<Block, DomNode[]>();
  for (const block of blocks) {
    const left = block.texts.filter((text) => texts.has(text));
    if (left.length > 0) kept.set(block, left);
  }
  if (kept.size > 0) return kept;
  const copies = grouped(blocksOf(content).reverse(), ({ text }) => folded(text));
  for (const block of blocks) {
    const copy = copies.get(folded(block.text))?.pop();
    if (copy !== undefined) kept.set(block, copy.texts);
  }
  return kept;
}

/** Missing blocks between kept ones; and code, data tables and long prose next to them in the element around all. */
function missedAround(
  page: PageBlocks,
  kept: ReadonlyMap<Block, DomNode[]>,
  first: number,
  last: number,
  title: string | null,
): Block[] {
  const { blocks, tables, templates } = page;
  const [from, to] = around(page.shared, first, last);
  const ofArticle = new Set(templates.get(blocks[first]));
  const data = dataTables(tables);
  const long = longProse([...blocks.slice(from, first), null, ...blocks.slice(last + 1, to + 1)]);
  const said = new Map<string, number>();
  for (const { text } of blocks.slice(first, last + 1)) said.set(folded(text), (said.get(folded(text)) ?? 0) + 1);
  const isMissed = (block: Block, at: number): boolean => {
    const isOutside = at < first || at > last;
    if (isOutside && templates.get(block)?.some((node) => !ofArticle.has(node))) return false;
    const table = tables.get(block);
    if (block.isCode || (table !== undefined && data.has(table))) return true;
    const times = said.get(folded(block.text));
    if (!isOutside) return times === 1 && isProse(block);
    return (
      times === undefined && (long.has(block) || ((at === first - 1 || at === last + 1) && isLoneSentence(blocks, at)))
    );
  };
  const missed: Block[] = [];
  let isFollowed = false;
  for (let at = to; at >= from; at--) {
    const block = blocks[at];
    const isText: boolean =
      kept.has(block) || (block.isHeading ? isFollowed && isHeadingOfText(block, title) : isMissed(block, at));
    if (isText && !kept.has(block)) missed.push(block);
    if (!block.isHeading) isFollowed = isText;
    if (at === first) isFollowed = false;
  }
  return missed;
}

const isTemplate = (node: DomNode): boolean =>
  node.nodeType === elementNode &&
  (templateElements.has(node.localName) ||
    isOfComments(`${node.getAttribute('class') ?? ''} ${node.getAttribute('id') ?? ''}`));

/** Index range of blocks in the smallest element, other than the body, that contains those from `first` to `last`. */
function around(shared: readonly number[], first: number, last: number): [from: number, to: number] {
  const depth = shared.slice(first, last).reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  let [from, to] = [first, last];
  if (depth <= bodyDepth) return [from, to];
  while (from > 0 && shared[from - 1] >= depth) from--;
  while (to < shared.length && shared[to] >= depth) to++;
  return [from, to];
}

/** Prose of more than a few sentences in a row. */
function longProse(blocks: readonly (Block | null)[]): Set<Block> {
  const long = new Set<Block>();
  let run: Block[] = [];
  for (const block of [...blocks, null]) {
    if (block?.isRunning && isProse(block)) run.push(block);
    else if (block === null || !(block.isCode || (block.isHeading && block.links < 0.5))) {
      if (run.reduce((sum, { text }) => sum + readingLength(text), 0) > longestNamed)
        for (const each of run) long.add(each);
      run = [];
    }
  }
  return long;
}

function isHeadingOfText({ text }: Block, title: string | null): boolean {
  return !isLabel(text) && !isCall(text) && folded(text) !== folded(title ?? '');
}

function isProse(block: Block): boolean {
  const { text } = block;
  if (isCall(text) || isFact(text) || isCredit(text) || isLabelled(text)) return false;
  return block.isRunning || isLinkedSentence(block);
}

function dataTables(tables: ReadonlyMap<Block, DomNode>): Set<DomNode> {
  const rows = new Map<DomNode, { rows: Set<DomNode | null>; cells: number }>();
  for (const [{ node }, table] of tables) {
    const size = rows.get(table) ?? { rows: new Set(), cells: 0 };
    size.rows.add(node.parentNode);
    size.cells++;
    rows.set(table, size);
  }
  return new Set(
    [...rows].filter(([, size]) => size.rows.size >= leastRows && size.cells >= leastCells).map(([table]) => table),
  );
}

/** Sections outside the kept blocks with headings at the level of the article's and prose below. */
function missedSections(
  { blocks, sections }: PageBlocks,
  kept: ReadonlyMap<Block, DomNode[]>,
  first: number,
  last: number,
): Block[] {
  const like = [...sections].filter(([heading]) => kept.has(heading)).map(([, section]) => section);
  const shapes = new Set(like.map(({ shape }) => shape));
  const kinds = new Set(like.map(({ kind }) => kind));
  return blocks.flatMap((heading, at) => {
    const section = sections.get(heading);
    if ((at >= first && at <= last) || section === undefined || !kinds.has(section.kind)) return [];
    const length = section.blocks.reduce((sum, { text }) => sum + text.length, 0);
    const linked = section.blocks.reduce((sum, { text, links }) => sum + text.length * links, 0);
    const isSection =
      section.blocks.filter((block) => isProse(block)).length >= (shapes.has(section.shape) ? 1 : leastProse) &&
      !section.blocks.some((block) => kept.has(block)) &&
      linked < length * largestLinkShare;
    return isSection && !isLabel(heading.text) && !isCall(heading.text) ? [heading, ...section.blocks] : [];
  });
}

/** Inserts each missing block before its successor, with enclosing lists and tables that contain nothing else. */
function putBack(
  content: DomNode,
  blocks: readonly Block[],
  kept: ReadonlyMap<Block, DomNode[]>,
  missed: ReadonlySet<Block>,
): void {
  const others = new Set<DomNode>(ancestorsOf(content));
  for (const block of blocks) {
    if (missed.has(block)) continue;
    for (const text of kept.get(block) ?? block.texts)
      for (let at = text.parentNode; at !== null && !others.has(at); at = at.parentNode) others.add(at);
  }
  let before: DomNode | undefined;
  const behind = blocks.map((block) => {
    before = kept.get(block)?.at(-1) ?? before;
    return before;
  });
  let next: DomNode | undefined;
  let place: DomNode | null = null;
  const placed = new Set<DomNode>();
  for (let at = blocks.length - 1; at >= 0; at--) {
    const block = blocks[at];
    const first = kept.get(block)?.[0];
    if (first !== undefined) [next, place] = [first, null];
    if (!missed.has(block)) continue;
    for (const text of block.texts.toReversed()) {
      const whole = wholeOf(text, block.node, others);
      if (placed.has(whole)) continue;
      placed.add(whole);
      if (place === null && next !== undefined) place = outermost(next, new Set(ancestorsOf(behind[at] ?? content)));
      (place?.parentNode ?? content).insertBefore(whole, place);
      place = whole;
    }
  }
}

function wholeOf(text: DomNode, block: DomNode, others: ReadonlySet<DomNode>): DomNode {
  const isFree = (node: DomNode | null): node is DomNode => node !== null && !others.has(node);
  let whole = text;
  while (whole !== block && isFree(whole.parentNode)) whole = whole.parentNode;
  while (isFree(whole.parentNode) && wholes.has(whole.parentNode.localName)) whole = whole.parentNode;
  return whole;
}

function outermost(node: DomNode, around: ReadonlySet<DomNode>): DomNode {
  let at = node;
  while (at.parentNode !== null && !around.has(at.parentNode)) at = at.parentNode;
  return at;
}

function ancestorsOf(node: DomNode): DomNode[] {
  const path: DomNode[] = [];
  for (let at: DomNode | null = node; at !== null; at = at.parentNode) path.push(at);
  return path;
}
