/**
 * Limits of extraction: a scan of the HTML before parsing and a walk over the tree before Readability, as both take quadratic time on
 * hostile input.
 */
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';

/** The largest single-page specifications have 300,000. */
const maxElements = 400_000;
/** Of any kind: every `&` and stray `<` in text begins a text node. */
const maxNodes = 800_000;
/** Browsers flatten deeper trees (512 in Blink). */
const maxDepth = 512;
/** Start tags without an end tag: 50,000 take the parser 2 s, 100,000 take 5 s. */
const maxUnclosed = 5000;
/** Elements without a required end tag, whose number says nothing about depth. */
const endTagOptional = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'body colgroup dd dt head html li optgroup option p rb rp rt rtc tbody td tfoot th thead tr path circle rect use'
  ).split(' '),
);
/** Longer white space is cut: Readability turns each further no-break space into a node. */
const longestSpace = 200;
const longSpace = new RegExp(`\\s{${longestSpace}}\\s+`, 'g');

/** The page is too large or too deep; a retry is useless. */
export class ExtractionLimitError extends Error {}

/** Refuse HTML that takes the parser minutes; ignores U+0000, as it does. Errors: ExtractionLimitError. Linear. */
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

/**
 * Check a parsed page and shorten white space. Returns the sum of its elements' depths, by which Readability's time grows.
 * Errors: ExtractionLimitError over 400,000 elements, 800,000 nodes or a depth of 512.
 */
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
