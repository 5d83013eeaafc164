/**
 * Parses HTML into a document. The parser makes one node of each tag and no more, so what the HTML standard has browsers mend is
 * mended here, as far as a reader would see it: text outside of the body, names of attributes in capitals, shadow trees
 * that are written out, parts that a script would put in their place, `<![CDATA[`, U+0000 in text. Called by extraction.
 */
import { parseHTML } from 'linkedom';
import { type DomDocument, type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';
import { ExtractionLimitError } from './extraction-limit.ts';

/** Names in capitals that count of one element: for each the parser's tree walks over all attributes of the element. */
const maxLowered = 64;
/** What has its place in a head; anything else that stands there is shown. Readability fails where it finds an article in a head. */
const headElements = new Set('base bgsound link meta script style title'.split(' '));
const hasCapital = /[A-Z]/;
/** In HTML it opens no section: the parser would take all that follows for its text. */
const openedSection = /<!\[CDATA\[(?:[^<>{]{0,1000}\]\]>)?/g;
/** React sends what was not ready as a hidden element behind the page, and leaves a template where it belongs. */
const streamedPlace = /^[BP]:([0-9a-f]{1,8})$/;

/** Parse a document or a fragment; U+0000 is nothing. `url` serves messages. Errors: ExtractionLimitError. Linear in the length. */
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
  // An `<html` may also stand in a comment or a script of a fragment.
  const whole: DomDocument | null = /<html[\s>]/i.test(text) ? parseHTML(text).document : null;
  if (whole?.documentElement?.localName === 'html') return whole;
  return parseHTML(`<!doctype html><html><head></head><body>${text}</body></html>`).document;
}

/** Levels; a deeper tree is refused (extraction-limit.ts). */
const deepestPlace = 512;

/**
 * Lower the names of attributes, and show shadow trees that are declared: templates that do so are shown at once, others never, and are
 * taken out. Put what came later where it belongs.
 */
function mendElements(root: DomNode): void {
  const templates: DomNode[] = [];
  const places = new Map<string, DomNode>();
  const later: DomNode[] = [];
  lowerNamesOf(root);
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      lowerNamesOf(node);
      if (node.localName === 'template') {
        templates.push(node);
        const place = streamedPlace.exec(node.getAttribute('id') ?? '');
        if (place !== null) places.set(`S:${place[1]}`, node);
      } else if (node.hasAttribute('hidden') && node.getAttribute('id')?.startsWith('S:')) later.push(node);
      return true;
    },
    () => {},
  );
  for (const part of later) {
    const place = places.get(part.getAttribute('id') ?? '');
    if (place === undefined || holds(part, place)) continue;
    place.replaceWith(part);
    part.removeAttribute('hidden');
  }
  for (const template of templates) {
    if (template.hasAttribute('shadowrootmode'))
      for (const node of siblingsFrom(template.firstChild)) template.parentNode?.insertBefore(node, template);
    template.remove();
  }
}

/** Whether one is in the other, or so deep that it stays where it is: what a part is put into deeper and deeper would take quadratic time. */
function holds(outer: DomNode, inner: DomNode): boolean {
  let depth = 0;
  for (let node: DomNode | null = inner; node !== null; node = node.parentNode)
    if (node === outer || ++depth > deepestPlace) return true;
  return false;
}

/** `<DIV STYLE="display:none">` has the attribute `style`. Of those that differ in case only, the first counts. */
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
 * What stands before `<body>` or behind `</body>` and `</html>` is in the body, and so is a second document. A document that leaves
 * the tags of its body out has one all the same. What is to be read ends the head, also where `</head>` is left out.
 */
function gatherStrays(page: DomDocument, root: DomNode): void {
  const own = siblingsFrom(root.firstChild);
  const found = own.find(({ localName }) => localName === 'body');
  const body = found ?? page.createElement('body');
  const first = body.firstChild;
  let isBehind = false;
  const take = (node: DomNode): void => {
    if (node.nodeType === elementNode || (node.nodeType === textNode && node.data.trim() !== '')) {
      body.insertBefore(node, isBehind ? null : first);
    }
  };
  // The siblings of the root are not found from their parent: where there is a doctype, that has no further ones.
  for (const node of siblingsBefore(root)) take(node);
  const behind = siblingsFrom(root.nextSibling);
  for (const node of own) {
    if (node === body) isBehind = true;
    else if (node.localName !== 'head') take(node);
    else for (const inHead of siblingsFrom(node.firstChild)) if (!headElements.has(inHead.localName)) take(inHead);
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

function siblingsFrom(first: DomNode | null): DomNode[] {
  const nodes: DomNode[] = [];
  for (let node = first; node !== null; node = node.nextSibling) nodes.push(node);
  return nodes;
}
