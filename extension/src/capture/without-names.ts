/**
 * A document or form by its interface. In Chromium, content scripts also see named elements: an image named `body`
 * hides the document's `body`, so a page could control what is read. Pure.
 */

/** Accepts any node; those without named properties are returned unchanged. Pass the node, not the proxy, to browser functions. */
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
