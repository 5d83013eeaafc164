/**
 * Parts of one kind that a page is made of: posts of a thread, answers to a question, sections of a manual. Readability goes by one element and what stands
 * beside it, and takes some of them. Called by extraction.
 */
import { weigh } from './clear-page.ts';
import { type DomNode, elementNode, walkTree } from './dom-tree.ts';

export interface RepeatedParts {
  /** Alike in name and classes, none within another, in the order of the page; and the running text of each, in characters. */
  nodes: Map<DomNode, number>;
  /** Of all of them. */
  running: number;
  /** What each says, in one line: it stays when Readability takes the page apart. */
  texts: string[];
}

/** What is around the parts holds this share of their running text: layouts give classes of parts to this and that elsewhere, too. */
const aroundShare = 0.9;
/** A part with this share of the mean part's running text may be the first of a thread; what has less is some box of the layout. */
const openingShare = 0.1;
/** As readable-text.ts writes it. */
const listMark = /^(?:- |\d+\. )/;

const names = new Set('article div li section td tr'.split(' '));

/** The parts of the kind that holds most of the running text below `root`; the outermost of several that hold the same. Null where nothing is repeated. */
export function repeatedParts(root: DomNode): RepeatedParts | null {
  const kinds = new Map<string, { nodes: Map<DomNode, number>; last: DomNode; running: number }>();
  for (const [node, { running }] of weigh(root)) {
    if (running === 0) continue;
    const kind = kindOf(node);
    if (kind === null) continue;
    const parts = kinds.get(kind) ?? { nodes: new Map(), last: node, running: 0 };
    kinds.set(kind, parts);
    if (isWithin(node, parts.last)) continue;
    parts.nodes.set(node, running);
    parts.last = node;
    parts.running += running;
  }
  let most: { nodes: Map<DomNode, number>; running: number } | null = null;
  for (const parts of kinds.values())
    if (parts.nodes.size > 1 && (most === null || parts.running > most.running)) most = parts;
  if (most === null) return null;
  const { nodes, running } = most;
  return { nodes, running, texts: [...nodes.keys()].map(({ textContent }) => spaced(textContent ?? '')) };
}

/** Whether the longest line of a text is one of theirs. */
export function holds({ texts }: RepeatedParts, text: string): boolean {
  const longest = text.split('\n').reduce((a, b) => (b.length > a.length ? b : a), '');
  const words = spaced(longest.replace(listMark, ''));
  return texts.some((each) => each.includes(words));
}

/** The smallest element that is around most of the repeated parts below `root` and the first of them; `root` where there are none. Linear in the number of nodes. */
export function aroundParts(root: DomNode): DomNode {
  const parts = repeatedParts(root);
  if (parts === null) return root;
  const wanted = parts.running * aroundShare;
  let around: DomNode | null = null;
  const held = [0];
  walkTree(
    root,
    (node) => {
      const running = parts.nodes.get(node);
      if (running !== undefined) held[held.length - 1] += running;
      if (running !== undefined || node.nodeType !== elementNode) return false;
      held.push(0);
      return true;
    },
    (node) => {
      const running = held.pop() ?? 0;
      if (running >= wanted) around ??= node;
      held[held.length - 1] += running;
    },
  );
  // A thread begins with its first part, which stands above the list of the others: a question and its answers.
  const least = (parts.running / parts.nodes.size) * openingShare;
  const first = [...parts.nodes].find(([, running]) => running >= least)?.[0] ?? root;
  let up: DomNode = around ?? root;
  while (up !== root && !isWithin(first, up)) up = up.parentNode ?? root;
  return up;
}

const spaced = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Its name and classes, without those that number it; null for what is no part, or not told apart from any other of its name. */
function kindOf(node: DomNode): string | null {
  if (!names.has(node.localName)) return null;
  const classes = (node.getAttribute('class') ?? '').split(/\s+/).filter((name) => name !== '' && !/\d/.test(name));
  if (classes.length === 0 && node.localName !== 'article') return null;
  return [node.localName, ...classes.sort()].join('.');
}

function isWithin(node: DomNode, outer: DomNode): boolean {
  for (let at = node.parentNode; at !== null; at = at.parentNode) if (at === outer) return true;
  return false;
}
