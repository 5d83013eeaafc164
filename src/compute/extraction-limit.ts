/** Bounds on what extraction takes on. Called before anything that costs more than one pass over a page. */
import { type DomNode, elementNode, walkTree } from './dom-tree.ts';

/**
 * Elements above which a page is refused: Readability takes about 40 µs per element, the largest single-page
 * specifications have 300,000.
 */
export const maxElements = 400_000;
/** Browsers flatten what nests deeper (512 in Blink); Readability's time grows with the depth of every element. */
export const maxDepth = 512;

/** The page is too large or nests too deep to be extracted; trying again is useless. */
export class ExtractionLimitError extends Error {
  readonly code = 'extraction_limit';
  readonly retryable = false;
}

/** The number of elements below `root`. Errors: ExtractionLimitError over `maxElements` or `maxDepth`. */
export function countElements(root: DomNode, url: string): number {
  let elements = 0;
  let depth = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      if (++elements > maxElements) throw new ExtractionLimitError(`page has over ${maxElements} elements: ${url}`);
      if (++depth > maxDepth) throw new ExtractionLimitError(`page nests deeper than ${maxDepth} elements: ${url}`);
      return true;
    },
    () => depth--,
  );
  return elements;
}
