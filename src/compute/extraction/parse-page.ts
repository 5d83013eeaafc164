/**
 * Parses HTML into a document. The parser makes one node of each tag and no more, so what the HTML standard has browsers mend is
 * mended here, as far as a reader would see it: text outside of the body, names of attributes in capitals, shadow trees
 * that are written out. Called by extraction.
 */
import { parseHTML } from 'linkedom';
import { type DomDocument, type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';
import { ExtractionLimitError } from './extraction-limit.ts';

/** Parse a document or a fragment. `url` serves messages. Errors: ExtractionLimitError. Linear in the length. */
export function parsePage(html: string, url: string): DomDocument {
  const text = html.replace(/\r\n?/g, '\n');
  // An `<html` may also stand in a comment or a script of a fragment.
  const whole = /<html[\s>]/i.test(text) ? parse(text, url) : null;
  const isDocument = whole?.documentElement?.localName === 'html';
  const page = isDocument ? whole : parse(`<!doctype html><html><head></head><body>${text}</body></html>`, url);
  const root = page.documentElement;
  if (root !== null) {
    lowerAttributeNames(root);
    gatherStrays(root);
    openShadowTrees(root);
  }
  return page;
}

function parse(html: string, url: string): DomDocument {
  try {
    return parseHTML(html).document;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ExtractionLimitError(`page has an element with too many class names: ${url}`, { cause: error });
  }
}

/** `<DIV STYLE="display:none">` has the attribute `style`. Of two that differ in case the first counts. */
function lowerAttributeNames(root: DomNode): void {
  const lower = (element: DomNode): void => {
    for (const name of element.getAttributeNames()) {
      const lowered = name.toLowerCase();
      if (lowered !== name && !element.hasAttribute(lowered)) {
        element.setAttribute(lowered, element.getAttribute(name) ?? '');
      }
    }
  };
  lower(root);
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      lower(node);
      return true;
    },
    () => {},
  );
}

/** What stands before `<body>` or behind `</body>` and `</html>` is in the body, and so is a second document. */
function gatherStrays(root: DomNode): void {
  const body = siblingsFrom(root.firstChild).find(({ localName }) => localName === 'body');
  const home = body ?? root;
  const first = home.firstChild;
  let isBehind = false;
  const take = (node: DomNode): void => {
    if (node.nodeType === elementNode || (node.nodeType === textNode && node.data.trim() !== '')) {
      home.insertBefore(node, isBehind ? null : first);
    }
  };
  const others = siblingsFrom(root.parentNode?.firstChild ?? null);
  const place = others.indexOf(root);
  for (const node of others.slice(0, place)) take(node);
  if (body !== undefined) {
    for (const node of siblingsFrom(root.firstChild)) {
      if (node === body) isBehind = true;
      else if (node.localName !== 'head') take(node);
    }
  }
  isBehind = true;
  for (const node of others.slice(place + 1)) take(node);
}

function siblingsFrom(first: DomNode | null): DomNode[] {
  const nodes: DomNode[] = [];
  for (let node = first; node !== null; node = node.nextSibling) nodes.push(node);
  return nodes;
}

/** A template that declares a shadow tree is shown at once; other templates are never. */
function openShadowTrees(root: DomNode): void {
  const templates: DomNode[] = [];
  walkTree(
    root,
    (node) => {
      if (node.localName === 'template' && node.hasAttribute('shadowrootmode')) templates.push(node);
      return node.nodeType === elementNode;
    },
    () => {},
  );
  for (const template of templates) {
    for (const node of siblingsFrom(template.firstChild)) template.parentNode?.insertBefore(node, template);
    template.remove();
  }
}
