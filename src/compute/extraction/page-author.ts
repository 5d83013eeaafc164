/** Authors in a page's markup: author elements (`rel`, microdata) and bylines by class. */
import { decodeHTMLStrict } from 'entities';
import { type DomNode, elementNode, elementsBelow, textNode, walkTree } from './dom-tree.ts';

export const longestAuthor = 200;
const longestName = 100;
/** Limits: candidates examined, and authors kept. */
const maxBylines = 5;
const bylineClass = /(?:^|[\s_-])(?:byline|authors?(?:-?name)?|p-author|post-author|entry-author)(?=$|[\s_-])/i;
/** Elements with authors of other things: comments, quotations, pictures, linked pages. */
const foreignClass =
  /comment|quote|image|photo|picture|caption|credit|attribution|gallery|related|teaser|bookmark|mention|embed/i;
const inlineElements = new Set(['a', 'b', 'em', 'i', 'span', 'strong', 'small', 'font', 'abbr', 'cite', 'u']);

const classOf = (node: DomNode): string => (node.getAttribute('class') ?? '').slice(0, 500);

/** Null if the element is not about the page's author. */
export function authorSign(node: DomNode): 'marked' | 'byline' | null {
  if (foreignClass.test(classOf(node))) return null;
  if (hasWord(node.getAttribute('itemprop'), 'author') || hasWord(node.getAttribute('rel'), 'author')) return 'marked';
  return bylineClass.test(classOf(node)) ? 'byline' : null;
}

const hasWord = (list: string | null, word: string): boolean =>
  (list ?? '').slice(0, 200).toLowerCase().split(/\s+/).includes(word);

/** The text if it looks like a name: not an address, not long, without a date. */
export function person(given: string): string | null {
  const name = decodeHTMLStrict(given.slice(0, 2 * longestAuthor))
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:(?:written|posted|story|text|reported|words) )?(?:by|von|par|por|di|door|av|af)\b:?\s+/i, '')
    .replace(/ ?[|•·–—].*/s, '')
    .split(' ')
    .filter((word) => !word.includes('@'))
    .join(' ')
    .replace(/,? ?\b(?:updated|published|posted|on|am)\b.*|(?:^|, ?| )\d.*/is, '')
    .replace(/(?<![\s,/])[\s,/]+$/, '');
  if (!/\p{L}/u.test(name) || name.length > longestName) return null;
  return /https?:|www\.|[{}<>]|\bundefined\b|^(?:null|admin|staff|authors?|see full bio)$/i.test(name) ? null : name;
}

/** Authors of the first author element and of adjacent ones. */
export function markedAuthors(nodes: readonly DomNode[]): string[] {
  const named = nodes.flatMap((node) => {
    const name = person(markedName(node));
    return name === null ? [] : [{ node, name }];
  });
  if (named.length === 0) return [];
  const [first] = named;
  const around = first.node.parentNode?.parentNode;
  const isBeside = ({ node }: { node: DomNode }) =>
    node.parentNode === first.node.parentNode || node.parentNode?.parentNode === around;
  return [first, ...named.slice(1).filter(isBeside)].map(({ name }) => name);
}

/** The text of an author element, or else its machine-readable name. */
function markedName(node: DomNode): string {
  const [line] = linesOf(node);
  if (line !== undefined) return line;
  const names = elementsBelow(node, (inner) => inner.getAttribute('itemprop') === 'name');
  return [...names, node].map((each) => each.getAttribute('content') ?? '').find((name) => name !== '') ?? '';
}

export function bylineAuthors(nodes: readonly DomNode[]): string[] {
  for (const node of nodes.slice(0, maxBylines)) {
    if ((node.textContent ?? '').length > 3 * longestAuthor) continue;
    const linked = linkedNames(node);
    if (linked.length > 0) return linked;
    const name = linesOf(node)
      .map((line) => person(line))
      .find((each) => each !== null);
    if (name !== undefined && name !== null) return [name];
  }
  return [];
}

/** Names of the first link and of similar links. */
function linkedNames(byline: DomNode): string[] {
  const links: { name: string; kind: string }[] = [];
  const add = (node: DomNode) => {
    const name = person(node.textContent ?? '');
    const href = node.getAttribute('href') ?? '';
    const kind = href.slice(0, href.replace(/\/$/, '').lastIndexOf('/') + 1);
    if (name !== null && !href.startsWith('#')) links.push({ name, kind });
  };
  if (byline.localName === 'a') add(byline);
  for (const link of elementsBelow(byline, ({ localName }) => localName === 'a')) add(link);
  return links.filter(({ kind }) => kind === links[0]?.kind).map(({ name }) => name);
}

function linesOf(node: DomNode): string[] {
  const lines: string[] = [''];
  const leave = (each: DomNode) => {
    if (each.nodeType === elementNode && !inlineElements.has(each.localName)) lines.push('');
  };
  walkTree(
    node,
    (each) => {
      if (each.nodeType === textNode) lines[lines.length - 1] += each.data;
      else if (each.nodeType === elementNode && !inlineElements.has(each.localName)) lines.push('');
      return each.nodeType === elementNode && each.localName !== 'script' && each.localName !== 'style';
    },
    leave,
  );
  const shown = lines.map((line) => line.replace(/\s+/g, ' ').trim());
  // "By" may be on its own line.
  return shown.filter((line) => line !== '' && line.length <= longestAuthor && !/^(?:by|von|par|por)$/i.test(line));
}
