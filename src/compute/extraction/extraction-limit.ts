/**
 * Bounds on what extraction takes on: one scan of the HTML before it is parsed, one walk over the tree before Readability,
 * because both take quadratic time on hostile input. Called by extraction.
 */
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';

/** Elements above which a page is refused; the largest single-page specifications have 300,000. */
const maxElements = 400_000;
/** Nodes of any kind, likewise: every `&` and stray `<` in running text begins a text node. */
const maxNodes = 800_000;
/** Depth above which a page is refused: browsers flatten what nests deeper (512 in Blink). */
const maxDepth = 512;
/** Start tags without an end tag above which HTML is not parsed: 50,000 take the parser 2 s, 100,000 take 5 s. */
const maxUnclosed = 5000;
/** Elements that need no end tag, so that long lists of them say nothing about depth. */
const endTagOptional = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'body colgroup dd dt head html li optgroup option p rb rp rt rtc tbody td tfoot th thead tr path circle rect use'
  ).split(' '),
);
/** White space in a row that is kept: Readability turns each further no-break space into a node of its own. */
const longestSpace = 200;
const longSpace = new RegExp(`\\s{${longestSpace}}\\s+`, 'g');

/** The page is too large or nests too deep to be extracted; trying again is useless. */
export class ExtractionLimitError extends Error {}

/** Refuse HTML that the parser would take minutes for; U+0000 is nothing, as there. Errors: ExtractionLimitError. Linear in its length. */
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
 * Check a parsed page, and shorten white space over 200 characters in a row, which is never read.
 * Returns the sum of the depths of its elements: what Readability's time grows with.
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
