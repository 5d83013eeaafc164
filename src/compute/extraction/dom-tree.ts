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
  querySelector(selector: string): DomNode | null;
  createElement(name: string): DomNode;
}

export const elementNode = 1;
export const textNode = 3;

/** Visit the descendants of `root` in document order. `enter` returns whether to visit a node's content; then `leave` follows it. */
export function walkTree(root: DomNode, enter: (node: DomNode) => boolean, leave: (node: DomNode) => void): void {
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
