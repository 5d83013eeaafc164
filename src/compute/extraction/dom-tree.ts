/** The DOM interface used by extraction, and an iterative walk, as pages may nest deeper than the stack allows. */
export interface DomNode {
  readonly nodeType: number;
  readonly localName: string;
  data: string;
  textContent: string | null;
  readonly firstChild: DomNode | null;
  readonly nextSibling: DomNode | null;
  readonly previousSibling: DomNode | null;
  readonly parentNode: DomNode | null;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  getAttributeNames(): string[];
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  /** `before` null: at the end. */
  insertBefore(node: DomNode, before: DomNode | null): void;
  replaceWith(node: DomNode): void;
  remove(): void;
}

export interface DomDocument {
  readonly documentElement: DomNode | null;
  createElement(name: string): DomNode;
}

export const elementNode = 1;
export const textNode = 3;

/** Visits the descendants of `root` in document order; `enter` returns whether to visit the content, then `leave`. */
export function walkTree(
  root: DomNode,
  enter: (node: DomNode) => boolean,
  leave: (node: DomNode) => void = () => {},
): void {
  let node = root.firstChild;
  while (node !== null) {
    if (enter(node)) {
      if (node.firstChild !== null) {
        node = node.firstChild;
        continue;
      }
      leave(node);
    }
    while (node.nextSibling === null) {
      const parent: DomNode | null = node.parentNode;
      if (parent === null || parent === root) return;
      leave(parent);
      node = parent;
    }
    node = node.nextSibling;
  }
}

/** The elements below `root` that `isWanted` accepts, in document order, also within each other. */
export function elementsBelow(root: DomNode, isWanted: (element: DomNode) => boolean): DomNode[] {
  const found: DomNode[] = [];
  walkTree(root, (node) => {
    if (node.nodeType === elementNode && isWanted(node)) found.push(node);
    return node.nodeType === elementNode;
  });
  return found;
}

export function siblingsFrom(first: DomNode | null): DomNode[] {
  const siblings: DomNode[] = [];
  for (let node = first; node !== null; node = node.nextSibling) siblings.push(node);
  return siblings;
}

export const childrenOf = (node: DomNode): DomNode[] => siblingsFrom(node.firstChild);

/** Move the content of `from` into `to`. `before` null: to the end. */
export function moveChildren(from: DomNode, to: DomNode | null, before: DomNode | null = null): void {
  for (const child of childrenOf(from)) to?.insertBefore(child, before);
}

export function isBelow(node: DomNode, outer: DomNode | null): boolean {
  for (let at = node.parentNode; at !== null; at = at.parentNode) if (at === outer) return true;
  return false;
}
