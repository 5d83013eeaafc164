/** Finds boilerplate that Readability left in an article, by a block's text, share of links and position. */
import {
  isCall,
  isCredit,
  isDate,
  isDated,
  isFact,
  isLabel,
  isLabelled,
  longestBoilerplateLine,
} from './boilerplate-lines.ts';
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';
import { headings, readingLength } from './readable-text.ts';
import { writtenDate } from './written-dates.ts';

/** The smallest element on lines of its own. */
export interface Block {
  node: DomNode;
  text: string;
  /** Share of characters in links. */
  links: number;
  isHeading: boolean;
  /** A table cell has no meaning alone. */
  isCell: boolean;
  isCode: boolean;
  isRunning: boolean;
  texts: DomNode[];
}

const blockNames = new Set(
  (
    'address article aside blockquote center dd details div dl dt fieldset figure figcaption footer form header hgroup h1 h2 h3 h4 h5 h6 ' +
    'li main nav ol p pre section summary table tbody td th thead tr ul'
  ).split(' '),
);
const cells = new Set('td th dt dd'.split(' '));
const unread = new Set('script style noscript template svg'.split(' '));
/** Characters of running text in a block, mostly outside links. */
const runningLength = 80;
/** A block with a larger share of links is navigation. */
const linkShare = 0.8;
const shortestSentence = 20;
/** A version, not a date such as 4.2.2026. */
const version = /(?<![\d.])\d{1,3}\.\d{1,3}(?:\.\d{1,3})*(?![\d.]*\d)/;
/** Max difference between equal dates, as time zones differ. */
const sameDayMs = 48 * 3_600_000;
/** Max share of characters cut at either end. */
const largestCut = 0.3;

export interface SaidElsewhere {
  title: string | null;
  published_at: string | null;
}

export function trimArticle(root: DomNode, said: SaidElsewhere): Set<DomNode> {
  const blocks = blocksOf(root);
  const gone = new Set<Block>();
  const isFactOfPage = factsIn(blocks, said);
  between(blocks, gone);
  before(blocks, gone, said.title, isFactOfPage);
  after(blocks, gone, isFactOfPage);
  return new Set([...gone].map(({ node }) => node));
}

/** The blocks below `root`, or the first `most` after `from`. */
export function blocksOf(root: DomNode, from: DomNode | null = null, most = Number.POSITIVE_INFINITY): Block[] {
  const blocks: Block[] = [];
  let isBehind = from === null;
  const path: { node: DomNode; text: string; texts: DomNode[]; linked: number; hasInner: boolean }[] = [
    { node: root, text: '', texts: [], linked: 0, hasInner: true },
  ];
  let links = 0;
  let inCells = 0;
  let inCode = 0;
  walkTree(
    root,
    (node) => {
      if (node === from) {
        isBehind = true;
        return false;
      }
      if (blocks.length >= most) return false;
      if (node.nodeType === textNode) {
        if (!isBehind) return false;
        const open = path[path.length - 1];
        open.text += node.data;
        open.texts.push(node);
        if (links > 0) open.linked += node.data.trim().length;
        return false;
      }
      if (node.nodeType !== elementNode || unread.has(node.localName)) return false;
      if (node.localName === 'a') links++;
      if (cells.has(node.localName)) inCells++;
      if (node.localName === 'pre') inCode++;
      if (node.localName === 'br') path[path.length - 1].text += ' ';
      if (blockNames.has(node.localName)) {
        path[path.length - 1].hasInner = true;
        path.push({ node, text: '', texts: [], linked: 0, hasInner: false });
      }
      return true;
    },
    (node) => {
      if (node.localName === 'a') links--;
      const [isCell, isCode] = [inCells > 0, inCode > 0];
      if (cells.has(node.localName)) inCells--;
      if (node.localName === 'pre') inCode--;
      if (path[path.length - 1].node !== node) return;
      const block = path.pop();
      if (block === undefined || block.hasInner) return;
      const text = block.text.replace(/\s+/g, ' ').trim();
      if (text === '') return;
      const share = block.linked / text.length;
      const isHeading = headings.has(node.localName);
      const isRunning =
        !isHeading &&
        share < 0.5 &&
        readingLength(text) >= runningLength &&
        /[.!?。！？…]["'”’»)\]]?(?:\s|$)|[。！？]/.test(text);
      blocks.push({ node, text, texts: block.texts, links: share, isHeading, isCell, isCode, isRunning });
    },
  );
  return blocks;
}

/**
 * Blocks with the page's date or author. Other dates belong to the text, as do headings that are versions or one of
 * several dates. If the date is unknown, a single date without time and place counts.
 */
function factsIn(blocks: readonly Block[], { published_at }: SaidElsewhere): (block: Block) => boolean {
  const levels = blocks.flatMap(({ isHeading, text, node }) => (isHeading && isDated(text) ? [node.localName] : []));
  const listed = new Set(levels.filter((level, at) => levels.indexOf(level) !== at));
  const dates = new Set(blocks.map(({ text }) => text).filter(isDated));
  return ({ text, isHeading, node }) => {
    if (!isFact(text)) return false;
    if (!isDated(text)) return true;
    if (isHeading && (version.test(text) || listed.has(node.localName))) return false;
    const date = published_at === null ? null : writtenDate(text);
    if (date === null || published_at === null) return !isHeading && dates.size === 1 && isDate(text);
    return Math.abs(Date.parse(date) - Date.parse(published_at)) <= sameDayMs;
  };
}

/** Marks labels with the links after them, labelled links, and credits, anywhere. */
function between(blocks: readonly Block[], gone: Set<Block>): void {
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i];
    if (block.isCell || block.isCode) continue;
    if (isCredit(block.text)) gone.add(block);
    else if (isLabel(block.text)) {
      let next = i + 1;
      while (next < blocks.length && blocks[next].links >= linkShare) next++;
      if (next === i + 1 && block.links < linkShare) continue;
      for (; i < next; i++) gone.add(blocks[i]);
      i--;
    } else if (block.links >= 0.5 && isLabelled(block.text)) gone.add(block);
    else if (block.links >= linkShare && !block.isHeading && isShouted(block.text)) gone.add(block);
  }
}

export function isLinkedSentence({ text, links }: Block): boolean {
  return links >= 0.5 && readingLength(text) >= shortestSentence && /\p{L}[.!?。！？]["'”’»)\]]?$/u.test(text);
}

/** Whether the block is a single sentence that is not one of several links. */
export function isLoneSentence(blocks: readonly Block[], at: number): boolean {
  const { text } = blocks[at];
  if (
    !isLinkedSentence(blocks[at]) ||
    /[.!?]\s|[。！？]./.test(text) ||
    isCall(text) ||
    isFact(text) ||
    isLabelled(text)
  )
    return false;
  return [blocks[at - 1], blocks[at + 1]].every((next) => next === undefined || next.links < 0.5);
}

/** A capitalized link on its own line: another headline. */
function isShouted(text: string): boolean {
  const letters = text.replace(/[^\p{L}]/gu, '');
  return (
    letters.length >= 15 && text.includes(' ') && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
  );
}

function isNavigation(blocks: readonly Block[], at: number): boolean {
  return blocks[at].links >= linkShare && !blocks[at].isHeading && !isLoneSentence(blocks, at);
}

function before(
  blocks: readonly Block[],
  gone: Set<Block>,
  title: string | null,
  isFactOfPage: (block: Block) => boolean,
): void {
  const all = lengthOf(blocks);
  const cut: Block[] = [];
  for (const [at, block] of blocks.entries()) {
    if (block.isRunning && !isCall(block.text) && !isFact(block.text)) break;
    const isTitle = title !== null && folded(block.text) === folded(title);
    if (block.isCell || block.isCode) continue;
    if (isTitle || isFactOfPage(block) || isCall(block.text) || isNavigation(blocks, at)) cut.push(block);
  }
  if (lengthOf(cut) <= all * largestCut) for (const block of cut) gone.add(block);
}

function after(blocks: readonly Block[], gone: Set<Block>, isFactOfPage: (block: Block) => boolean): void {
  const all = lengthOf(blocks);
  const cut: Block[] = [];
  for (let i = blocks.length - 1; i >= 0; i--) {
    const block = blocks[i];
    if (gone.has(block)) continue;
    const { text } = block;
    if (block.isCell || block.isCode) break;
    const isOver = isCall(text) || isFactOfPage(block) || isLabel(text) || isNavigation(blocks, i);
    // A heading without content.
    const isDangling = block.isHeading && (cut.length > 0 || blocks.slice(i + 1).some((each) => gone.has(each)));
    if (isOver || isDangling || /^[\W_]+$/u.test(text.replace(/\p{L}|\p{N}/gu, 'a'))) cut.push(block);
    else break;
  }
  if (lengthOf(cut) <= all * largestCut) for (const block of cut) gone.add(block);
}

function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { text }) => sum + text.length, 0);
}

/** Letters and digits at the beginning, lower case. */
export function folded(text: string, length = longestBoilerplateLine): string {
  return text
    .slice(0, length)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
