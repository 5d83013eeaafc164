/** Repeated parts of a page: posts, answers, sections of a manual. Readability chooses one of them and its siblings. */
import { weigh } from './clear-page.ts';
import { type DomNode, elementNode, isBelow, walkTree } from './dom-tree.ts';

export interface RepeatedParts {
  /** Parts with the same name and classes, not nested, in page order, with their running text in characters. */
  nodes: Map<DomNode, number>;
  running: number;
  /** Each part's text on one line. Copied because Readability modifies the page. */
  texts: string[];
}

/** Min share of the parts' running text in their container, because layouts reuse classes elsewhere. */
const aroundShare = 0.9;
/** Min length of a thread's first part, as a share of the mean part's text. Smaller ones belong to the layout. */
const openingShare = 0.1;
/** As readable-text.ts writes it. */
const listMark = /^(?:- |\d+\. )/;

const names = new Set('article div li section td tr'.split(' '));

/** The kind with the most running text below `root`; of equals, the outermost. Null if nothing is repeated. */
export function repeatedParts(root: DomNode): RepeatedParts | null {
  const kinds = new Map<string, { nodes: Map<DomNode, number>; last: DomNode; running: number }>();
  for (const [node, { running }] of weigh(root)) {
    if (running === 0) continue;
    const kind = kindOf(node);
    if (kind === null) continue;
    const parts = kinds.get(kind) ?? { nodes: new Map(), last: node, running: 0 };
    kinds.set(kind, parts);
    if (isBelow(node, parts.last)) continue;
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

/** Whether one of the parts contains the longest line of a text. */
export function holds({ texts }: RepeatedParts, text: string): boolean {
  const longest = text.split('\n').reduce((a, b) => (b.length > a.length ? b : a), '');
  const words = spaced(longest.replace(listMark, ''));
  return texts.some((each) => each.includes(words));
}

/** The smallest element that contains most repeated parts and the first of them; otherwise `root`. Linear. */
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
  // A thread's first part may be outside the list of the others: a question above its answers.
  const least = (parts.running / parts.nodes.size) * openingShare;
  const first = [...parts.nodes].find(([, running]) => running >= least)?.[0] ?? root;
  let up: DomNode = around ?? root;
  while (up !== root && !isBelow(first, up)) up = up.parentNode ?? root;
  return up;
}

const spaced = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Name and classes without numbers. Null if the node cannot be a part, or has no distinctive name. */
function kindOf(node: DomNode): string | null {
  if (!names.has(node.localName)) return null;
  const classes = (node.getAttribute('class') ?? '').split(/\s+/).filter((name) => name !== '' && !/\d/.test(name));
  if (classes.length === 0 && node.localName !== 'article') return null;
  return [node.localName, ...classes.sort()].join('.');
}
