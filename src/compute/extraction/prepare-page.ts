/**
 * Changes the markup of a page, none of its words, where Readability would misjudge it: it drops code for the links in it, text that stands
 * directly in the body, and every `aside`. Called by extraction, before anything is removed.
 */
import { type DomDocument, type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';

/** A piece of text directly in the body that has so many characters is something to read. */
const shortestBare = 40;
const longestName = 400;
/** What manuals call a remark that belongs to their text. */
const admonition = /(?:^|\s)(?:note|tip|hint|warning|caution|important|danger|callout|admonition)(?=$|[\s_-])/i;

/** Linear in the number of nodes. */
export function preparePage(page: DomDocument): void {
  const root = page.documentElement;
  const body = page.querySelector('body');
  if (root === null || body === null) return;
  unlinkCode(root);
  keepAdmonitions(page, root);
  wrapBareText(page, body);
}

/** Manuals link each identifier of their code: what is in `pre` is no list of links. */
function unlinkCode(root: DomNode): void {
  const links: DomNode[] = [];
  let preformatted = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      if (node.localName === 'pre') preformatted++;
      else if (node.localName === 'a' && preformatted > 0) links.push(node);
      return true;
    },
    (node) => {
      if (node.localName === 'pre') preformatted--;
    },
  );
  for (const link of links) {
    for (let child = link.firstChild; child !== null; child = link.firstChild)
      link.parentNode?.insertBefore(child, link);
    link.remove();
  }
}

/** An `aside` that calls itself a note or a warning becomes a plain element. */
function keepAdmonitions(page: DomDocument, root: DomNode): void {
  const found: DomNode[] = [];
  walkTree(
    root,
    (node) => {
      if (node.localName === 'aside' && admonition.test((node.getAttribute('class') ?? '').slice(0, longestName)))
        found.push(node);
      return node.nodeType === elementNode;
    },
    () => {},
  );
  for (const aside of found) {
    const plain = page.createElement('div');
    for (let child = aside.firstChild; child !== null; child = aside.firstChild) plain.insertBefore(child, null);
    aside.replaceWith(plain);
  }
}

/** Readability takes elements only: text between the elements of a body is lost unless all of it is in one. */
function wrapBareText(page: DomDocument, body: DomNode): void {
  let isBare = false;
  for (let node = body.firstChild; node !== null && !isBare; node = node.nextSibling)
    isBare = node.nodeType === textNode && node.data.trim().length >= shortestBare;
  if (!isBare) return;
  const whole = page.createElement('div');
  for (let node = body.firstChild; node !== null; node = body.firstChild) whole.insertBefore(node, null);
  body.insertBefore(whole, null);
}
