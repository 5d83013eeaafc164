/** Parses HTML, and adds the visible effects of the HTML standard's error handling, which the parser lacks. */
import { parseHTML } from 'linkedom';
import {
  childrenOf,
  type DomDocument,
  type DomNode,
  elementNode,
  moveChildren,
  siblingsFrom,
  textNode,
  walkTree,
} from './dom-tree.ts';

/** Max attribute names changed to lower case per element: each takes a walk over the attributes. */
const maxLowered = 64;
/** Elements that belong in a head; other elements are shown. Readability fails on an article in a head. */
const headElements = new Set('base bgsound link meta script style title'.split(' '));
const hasCapital = /[A-Z]/;
/** HTML has no such section, but the parser would swallow the rest of the page. */
const openedSection = /<!\[CDATA\[(?:[^<>{]{0,1000}\]\]>)?/g;
/** React streams late content in a hidden element; a template marks its place. */
const streamedPlace = /^[BP]:([0-9a-f]{1,8})$/;

export interface ParsedPage {
  document: DomDocument;
  root: DomNode;
  body: DomNode;
}

/** Parse a document or fragment; ignores U+0000. `url` is for messages. Errors: ExtractionLimitError. Linear. */
export function parsePage(html: string, url: string): ParsedPage {
  try {
    const page = parseWhole(html.replaceAll('\0', '').replace(/\r\n?/g, '\n').replace(openedSection, ''));
    const body = gatherStrays(page.document, page.root);
    mendElements(page.root);
    return { ...page, body };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ExtractionLimitError(`page has an element with too many class names: ${url}`, { cause: error });
  }
}

function parseWhole(text: string): Omit<ParsedPage, 'body'> {
  // `<html` may also stand in a comment or script of a fragment.
  for (const whole of [
    ...(/<html[\s>]/i.test(text) ? [text] : []),
    `<!doctype html><html><head></head><body>${text}</body></html>`,
  ]) {
    const { document } = parseHTML(whole) as unknown as { document: DomDocument };
    const root = document.documentElement;
    if (root?.localName === 'html') return { document, root };
  }
  throw new RangeError('no document');
}

/** Lowers attribute names, shows declarative shadow trees, drops other templates, puts streamed parts in place. */
function mendElements(root: DomNode): void {
  const templates: DomNode[] = [];
  const places = new Map<string, DomNode>();
  const later: DomNode[] = [];
  lowerNamesOf(root);
  walkTree(root, (node) => {
    if (node.nodeType !== elementNode) return false;
    lowerNamesOf(node);
    if (node.localName === 'template') {
      templates.push(node);
      const place = streamedPlace.exec(node.getAttribute('id') ?? '');
      if (place !== null) places.set(`S:${place[1]}`, node);
    } else if (node.hasAttribute('hidden') && node.getAttribute('id')?.startsWith('S:')) later.push(node);
    return true;
  });
  for (const part of later) {
    const place = places.get(part.getAttribute('id') ?? '');
    if (place === undefined || holds(part, place)) continue;
    place.replaceWith(part);
    part.removeAttribute('hidden');
  }
  for (const template of templates) {
    if (template.hasAttribute('shadowrootmode')) moveChildren(template, template.parentNode, template);
    template.remove();
  }
}

/** Whether one contains the other, or is too deep to move: nested parts would take quadratic time. */
function holds(outer: DomNode, inner: DomNode): boolean {
  let depth = 0;
  for (let node: DomNode | null = inner; node !== null; node = node.parentNode)
    if (node === outer || ++depth > maxDepth) return true;
  return false;
}

/** Changes attribute names to lower case. Of attributes that then have the same name, the first counts. */
function lowerNamesOf(element: DomNode): void {
  const names = element.getAttributeNames();
  if (!names.some((name) => hasCapital.test(name))) return;
  const seen = new Set<string>();
  let lowered = 0;
  for (const name of names) {
    const lower = name.toLowerCase();
    if (seen.has(lower)) continue;
    seen.add(lower);
    if (lower === name) continue;
    if (++lowered > maxLowered) return;
    element.setAttribute(lower, element.getAttribute(name) ?? '');
  }
}

/**
 * Moves content outside of `<body>`, also of a second document, into it; creates a missing body and returns it. Visible
 * content ends the head, even without `</head>`.
 */
function gatherStrays(page: DomDocument, root: DomNode): DomNode {
  const own = childrenOf(root);
  const found = own.find(({ localName }) => localName === 'body');
  const body = found ?? page.createElement('body');
  const first = body.firstChild;
  let isBehind = false;
  const take = (node: DomNode): void => {
    if (node.nodeType === elementNode || (node.nodeType === textNode && node.data.trim() !== '')) {
      body.insertBefore(node, isBehind ? null : first);
    }
  };
  // After a doctype the parser does not list the siblings of the root.
  for (const node of siblingsBefore(root)) take(node);
  const behind = siblingsFrom(root.nextSibling);
  for (const node of own) {
    if (node === body) isBehind = true;
    else if (node.localName !== 'head') take(node);
    else for (const inHead of childrenOf(node)) if (!headElements.has(inHead.localName)) take(inHead);
  }
  if (found === undefined) root.insertBefore(body, null);
  isBehind = true;
  for (const node of behind) take(node);
  return body;
}

function siblingsBefore(last: DomNode): DomNode[] {
  const nodes: DomNode[] = [];
  for (let node = last.previousSibling; node !== null; node = node.previousSibling) nodes.push(node);
  return nodes.reverse();
}

/* Limits, checked before parsing and before Readability, which take quadratic time on hostile input. */

/** The largest single-page specifications have 300,000. */
const maxElements = 400_000;
/** Max nodes of any kind: every `&` and stray `<` in text begins a text node. */
const maxNodes = 800_000;
/** Browsers flatten deeper trees (512 in Blink). */
const maxDepth = 512;
/** Max start tags without an end tag: 50,000 take the parser 2 s, 100,000 take 5 s. */
const maxUnclosed = 5000;
/** Elements whose end tag is optional. Their number does not show the depth. */
const endTagOptional = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'body colgroup dd dt head html li optgroup option p rb rp rt rtc tbody td tfoot th thead tr path circle rect use'
  ).split(' '),
);
/** Longer white space is shortened: Readability turns each further no-break space into a node. */
const longestSpace = 200;
const longSpace = new RegExp(`\\s{${longestSpace}}\\s+`, 'g');

/** The page is too large or too deep; a retry is useless. */
export class ExtractionLimitError extends Error {}

/** Refuse HTML that would take the parser minutes; ignores U+0000, like it. Errors: ExtractionLimitError. Linear. */
export function checkMarkup(html: string, url: string): void {
  let tags = 0;
  let unclosed = 0;
  for (const [, slash, name] of html.replaceAll('\0', '').matchAll(/<(\/?)([a-z][a-z0-9]{0,15})/gi)) {
    if (++tags > maxElements * 2) throw new ExtractionLimitError(`page has over ${maxElements} elements: ${url}`);
    if (endTagOptional.has(name.toLowerCase())) continue;
    unclosed = slash === '' ? unclosed + 1 : Math.max(0, unclosed - 1);
    if (unclosed > maxUnclosed) throw new ExtractionLimitError(`page leaves over ${maxUnclosed} elements open: ${url}`);
  }
}

/** Shortens white space; returns the sum of depths, by which Readability's time grows. Errors: ExtractionLimitError. */
export function checkTree(root: DomNode, url: string): number {
  let elements = 0;
  let depth = 0;
  let depths = 0;
  let nodes = 0;
  walkTree(
    root,
    (node) => {
      if (++nodes > maxNodes) throw new ExtractionLimitError(`page has over ${maxNodes} nodes: ${url}`);
      if (node.nodeType === textNode && node.data.length > longestSpace) {
        node.data = node.data.replace(longSpace, (run) => run.slice(0, longestSpace));
      }
      if (node.nodeType !== elementNode) return false;
      if (++elements > maxElements) throw new ExtractionLimitError(`page has over ${maxElements} elements: ${url}`);
      if (++depth > maxDepth) throw new ExtractionLimitError(`page nests deeper than ${maxDepth} elements: ${url}`);
      depths += depth;
      return true;
    },
    () => depth--,
  );
  return depths;
}
