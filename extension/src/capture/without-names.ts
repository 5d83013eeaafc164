/**
 * A document or form as its interface has it. Chromium shows content scripts, too, what a page named: an image named `body` stands before the
 * document's `body`, and a field named `childNodes` before its form's children, so that the page would decide what is read of it. Pure.
 */

/** Any node may be given; what cannot be named into is given back. The browser's own functions take no proxy: give them the node. */
export function withoutNames<Owner extends Node>(node: Owner): Owner {
  const { localName } = node as unknown as { localName?: unknown };
  if (typeof localName === 'string' && localName !== 'form') return node;
  const prototype = Object.getPrototypeOf(node);
  return new Proxy(node, {
    get: (owner, name) => {
      const value = Reflect.get(name in prototype ? prototype : owner, name, owner);
      return typeof value === 'function' ? value.bind(owner) : value;
    },
  });
}
