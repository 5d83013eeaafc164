/**
 * Parts of one kind that a page is made of: posts of a thread, answers to a question, sections of a manual. Readability goes by one element and what stands
 * beside it, and takes some of them. Called by extraction.
 */
import { weigh } from './clear-page.ts';
import type { DomDocument, DomNode } from './dom-tree.ts';

export interface RepeatedParts {
  /** Alike in name and classes, none within another, in the order of the page. */
  nodes: DomNode[];
  /** Their running text, in characters. */
  running: number;
  /** What each says, in one line: it stays when Readability takes the page apart. */
  texts: string[];
}

/** As readable-text.ts writes it. */
const listMark = /^(?:- |\d+\. )/;

const names = new Set('article div li section td tr'.split(' '));

/** The parts of the kind that holds most of the running text below `root`; the outermost of several that hold the same. Null where nothing is repeated. */
export function repeatedParts(root: DomNode): RepeatedParts | null {
  const kinds = new Map<string, { nodes: DomNode[]; running: number }>();
  for (const [node, { running }] of weigh(root)) {
    if (running === 0) continue;
    const kind = kindOf(node);
    if (kind === null) continue;
    const parts = kinds.get(kind) ?? { nodes: [], running: 0 };
    kinds.set(kind, parts);
    const last = parts.nodes.at(-1);
    if (last !== undefined && isWithin(node, last)) continue;
    parts.nodes.push(node);
    parts.running += running;
  }
  let most: { nodes: DomNode[]; running: number } | null = null;
  for (const parts of kinds.values())
    if (parts.nodes.length > 1 && (most === null || parts.running > most.running)) most = parts;
  return most === null ? null : { ...most, texts: most.nodes.map(({ textContent }) => spaced(textContent ?? '')) };
}

/** Whether the longest line of a text is one of theirs. */
export function holds({ texts }: RepeatedParts, text: string): boolean {
  const longest = text.split('\n').reduce((a, b) => (b.length > a.length ? b : a), '');
  const words = spaced(longest.replace(listMark, ''));
  return texts.some((each) => each.includes(words));
}

/** Leave nothing but its repeated parts below an element. */
export function keepParts(page: DomDocument, root: DomNode): void {
  const kept = (repeatedParts(root)?.nodes ?? []).map((node) => {
    // Whatever it was in its place, an item or a cell, it stands by itself now.
    const part = page.createElement('div');
    for (let child = node.firstChild; child !== null; child = node.firstChild) part.insertBefore(child, null);
    return part;
  });
  for (let child = root.firstChild; child !== null; child = root.firstChild) child.remove();
  for (const part of kept) root.insertBefore(part, null);
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
