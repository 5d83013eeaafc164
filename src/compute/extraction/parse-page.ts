/**
 * Parses HTML. The parser creates one node per tag, so visible effects of the HTML standard's error handling are added here: text
 * outside of the body, capital attribute names, declarative shadow trees, streamed parts, `<![CDATA[`, U+0000.
 */
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
import { ExtractionLimitError } from './extraction-limit.ts';

/** Capital attribute names lowered per element: each takes a walk over its attributes. */
const maxLowered = 64;
/** Elements that belong in a head; others are shown. Readability fails on an article in a head. */
const headElements = new Set('base bgsound link meta script style title'.split(' '));
const hasCapital = /[A-Z]/;
/** Not a section in HTML, but the parser would swallow the rest. */
const openedSection = /<!\[CDATA\[(?:[^<>{]{0,1000}\]\]>)?/g;
/** React streams late content in a hidden element, with a template at its place. */
const streamedPlace = /^[BP]:([0-9a-f]{1,8})$/;

/** Parse a document or fragment; ignores U+0000. `url` is for messages. Errors: ExtractionLimitError. Linear. */
export function parsePage(html: string, url: string): DomDocument {
  try {
    const page = parseWhole(html.replaceAll('\0', '').replace(/\r\n?/g, '\n').replace(openedSection, ''));
    const root = page.documentElement;
    if (root !== null) {
      gatherStrays(page, root);
      mendElements(root);
    }
    return page;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ExtractionLimitError(`page has an element with too many class names: ${url}`, { cause: error });
  }
}

function parseWhole(text: string): DomDocument {
  // `<html` may also be in a fragment's comment or script.
  const whole: DomDocument | null = /<html[\s>]/i.test(text) ? parseHTML(text).document : null;
  if (whole?.documentElement?.localName === 'html') return whole;
  return parseHTML(`<!doctype html><html><head></head><body>${text}</body></html>`).document;
}

/** Deeper trees are refused (extraction-limit.ts). */
const deepestPlace = 512;

/** Lower attribute names, show declarative shadow trees, remove other templates, and move streamed parts to their places. */
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

/** Whether one contains the other, or is so deep that it stays: nesting parts would take quadratic time. */
function holds(outer: DomNode, inner: DomNode): boolean {
  let depth = 0;
  for (let node: DomNode | null = inner; node !== null; node = node.parentNode)
    if (node === outer || ++depth > deepestPlace) return true;
  return false;
}

/** Of attributes that differ in case only, the first counts. */
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
 * Move content before `<body>` and after `</body>` or `</html>` into the body, including a second document; create a missing body.
 * Visible content ends the head, even without `</head>`.
 */
function gatherStrays(page: DomDocument, root: DomNode): void {
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
  // A parent does not list its root's siblings after a doctype.
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
}

function siblingsBefore(last: DomNode): DomNode[] {
  const nodes: DomNode[] = [];
  for (let node = last.previousSibling; node !== null; node = node.previousSibling) nodes.push(node);
  return nodes.reverse();
}
