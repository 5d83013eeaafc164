/**
 * Tells what Readability left in an article and is none of it: links to other articles between its paragraphs, lines about it and calls
 * to the reader before and after it, credits of pictures. Judged by blocks: what a block says, how much of it is links, and where
 * it stands. Called by extraction.
 */
import { isCall, isCredit, isFact, isLabel, isLabelled, longestBoilerplateLine } from './boilerplate-lines.ts';
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';
import { headings } from './readable-text.ts';

/** The smallest element that stands on lines of its own. */
export interface Block {
  node: DomNode;
  text: string;
  /** Share of its characters that are links'. */
  links: number;
  isHeading: boolean;
  /** Of a table: it says something only beside the others. */
  isCell: boolean;
  isRunning: boolean;
}

const blockNames = new Set(
  (
    'address article aside blockquote center dd details div dl dt fieldset figure figcaption footer form header hgroup h1 h2 h3 h4 h5 h6 ' +
    'li main nav ol p pre section summary table tbody td th thead tr ul'
  ).split(' '),
);
const cells = new Set('td th dt dd'.split(' '));
const unread = new Set('script style noscript template svg'.split(' '));
/** A block with a sentence of so many characters, mostly outside links, is running text. */
const runningLength = 80;
/** A block with more of it in links is a way to elsewhere. */
const linkShare = 0.8;
/** Share of the article's characters that may be cut off at its beginning, and at its end. */
const largestCut = 0.3;

/** The elements of an article that are boilerplate. `title`: the page's, which its text need not repeat. Linear in the article. */
export function trimArticle(root: DomNode, title: string | null): Set<DomNode> {
  const blocks = blocksOf(root);
  const gone = new Set<Block>();
  between(blocks, gone);
  before(blocks, gone, title);
  after(blocks, gone);
  return new Set([...gone].map(({ node }) => node));
}

/** The blocks below `root`, or the first `most` of those that begin behind `from`. */
export function blocksOf(root: DomNode, from: DomNode | null = null, most = Number.POSITIVE_INFINITY): Block[] {
  const blocks: Block[] = [];
  let isBehind = from === null;
  const path: { node: DomNode; text: string; linked: number; hasInner: boolean }[] = [
    { node: root, text: '', linked: 0, hasInner: true },
  ];
  let links = 0;
  let inCells = 0;
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
        if (links > 0) open.linked += node.data.trim().length;
        return false;
      }
      if (node.nodeType !== elementNode || unread.has(node.localName)) return false;
      if (node.localName === 'a') links++;
      if (cells.has(node.localName)) inCells++;
      if (node.localName === 'br') path[path.length - 1].text += ' ';
      if (blockNames.has(node.localName)) {
        path[path.length - 1].hasInner = true;
        path.push({ node, text: '', linked: 0, hasInner: false });
      }
      return true;
    },
    (node) => {
      if (node.localName === 'a') links--;
      const isCell = inCells > 0;
      if (cells.has(node.localName)) inCells--;
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
        text.length >= runningLength &&
        /[.!?。！？…]["'”’»)\]]?(?:\s|$)|[。！？]/.test(text);
      blocks.push({ node, text, links: share, isHeading, isCell, isRunning });
    },
  );
  return blocks;
}

/** Labels with the links that follow them, lines that are a label and a link, and credits, wherever they stand. */
function between(blocks: readonly Block[], gone: Set<Block>): void {
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i];
    if (block.isCell) continue;
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

/** A link in capitals, on a line of its own: a headline of something else. */
function isShouted(text: string): boolean {
  const letters = text.replace(/[^\p{L}]/gu, '');
  return (
    letters.length >= 15 && text.includes(' ') && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
  );
}

function before(blocks: readonly Block[], gone: Set<Block>, title: string | null): void {
  const all = lengthOf(blocks);
  const cut: Block[] = [];
  for (const block of blocks) {
    if (block.isRunning && !isCall(block.text) && !isFact(block.text)) break;
    const isTitle = title !== null && folded(block.text) === folded(title);
    if (block.isCell) continue;
    if (isTitle || isFact(block.text) || isCall(block.text) || (block.links >= linkShare && !block.isHeading))
      cut.push(block);
  }
  if (lengthOf(cut) <= all * largestCut) for (const block of cut) gone.add(block);
}

function after(blocks: readonly Block[], gone: Set<Block>): void {
  const all = lengthOf(blocks);
  const cut: Block[] = [];
  for (let i = blocks.length - 1; i >= 0; i--) {
    const block = blocks[i];
    if (gone.has(block)) continue;
    const { text } = block;
    if (block.isCell) break;
    const isOver = isCall(text) || isFact(text) || isLabel(text) || (block.links >= linkShare && !block.isHeading);
    // A heading with nothing left below it.
    const isDangling = block.isHeading && (cut.length > 0 || blocks.slice(i + 1).some((each) => gone.has(each)));
    if (isOver || isDangling || /^[\W_]+$/u.test(text.replace(/\p{L}|\p{N}/gu, 'a'))) cut.push(block);
    else break;
  }
  if (lengthOf(cut) <= all * largestCut) for (const block of cut) gone.add(block);
}

function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { text }) => sum + text.length, 0);
}

/** Letters and digits of its first characters, in lower case. */
export function folded(text: string, length = longestBoilerplateLine): string {
  return text
    .slice(0, length)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
