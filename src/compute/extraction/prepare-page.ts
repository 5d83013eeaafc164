/** Adapts markup without changing words: Readability drops code with links, hidden formulas, bare body text, asides. */
import { hiddenStyle } from './clear-page.ts';
import {
  childrenOf,
  type DomDocument,
  type DomNode,
  elementNode,
  elementsBelow,
  moveChildren,
  textNode,
  walkTree,
} from './dom-tree.ts';
import type { ParsedPage } from './parse-page.ts';
import { readingLength } from './readable-text.ts';

/** Min characters of readable text directly in the body. */
const shortestBare = 40;
const longestName = 400;
/** Remarks of manuals that belong to the text. */
const admonition = /(?:^|\s)(?:note|tip|hint|warning|caution|important|danger|callout|admonition)(?=$|[\s_-])/i;

/** Code editors, and their names for a line. */
const editors = new Set('codemirror cm-editor monaco-editor ace_editor'.split(' '));
const editorLines = new Set('codemirror-line cm-line view-line ace_line'.split(' '));
const lineNumbers = new Set(
  'codemirror-linenumber cm-gutters ace_gutter line-numbers-rows linenos lineno hljs-ln-numbers react-syntax-highlighter-line-number'.split(
    ' ',
  ),
);
/** These elements also begin a line in preformatted text. */
const codeLines = new Set('div p li tr'.split(' '));
/** Max number of hidden ancestors of a formula. */
const maxHiding = 3;

export function preparePage({ document, root, body }: ParsedPage): void {
  showFormulas(root);
  joinCodeLines(document, root);
  mendLinks(root);
  keepAdmonitions(document, root);
  wrapBareText(document, body);
}

function showFormulas(root: DomNode): void {
  walkTree(root, (node) => {
    if (node.localName !== 'math') return node.nodeType === elementNode;
    for (
      let at = node.parentNode, i = 0;
      at !== null && at.localName === 'span' && i < maxHiding;
      at = at.parentNode, i++
    ) {
      if (at.firstChild?.nextSibling !== null) break;
      if (hiddenStyle.test(at.getAttribute('style') ?? '')) at.removeAttribute('style');
    }
    return false;
  });
}

/** Turns elements that are lines of code into preformatted text, without line numbers. */
function joinCodeLines(page: DomDocument, root: DomNode): void {
  const found: { node: DomNode; isEditor: boolean }[] = [];
  const numbers: DomNode[] = [];
  let preformatted = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      if (hasName(node, lineNumbers)) {
        numbers.push(node);
        return false;
      }
      const isEditor = hasName(node, editors);
      if (preformatted === 0 && (isEditor || node.localName === 'pre')) found.push({ node, isEditor });
      if (!isEditor && node.localName === 'pre') preformatted++;
      return !isEditor;
    },
    (node) => {
      if (node.localName === 'pre') preformatted--;
    },
  );
  for (const node of numbers) if (/^[\d\s]*$/.test(node.textContent ?? '')) node.remove();
  for (const { node, isEditor } of found) {
    const code = linesOf(node, isEditor);
    if (code === null) continue;
    const pre = page.createElement('pre');
    pre.textContent = code;
    node.replaceWith(pre);
  }
}

function linesOf(root: DomNode, isEditor: boolean): string | null {
  const isLine = (node: DomNode): boolean => (isEditor ? hasName(node, editorLines) : codeLines.has(node.localName));
  const lines: string[] = [''];
  let count = 0;
  let within = 0;
  let isBroken = false;
  const breakLine = () => {
    if (lines[lines.length - 1] !== '') lines.push('');
  };
  walkTree(
    root,
    (node) => {
      if (node.nodeType === textNode && (within > 0 || !isEditor)) lines[lines.length - 1] += node.data;
      if (node.nodeType === textNode && node.data !== '') isBroken = false;
      if (node.nodeType !== elementNode) return false;
      if (node.localName === 'br') {
        lines.push('');
        isBroken = true;
      }
      if (node.localName === 'button' || hasName(node, lineNumbers)) return false;
      if (isLine(node)) {
        if (within === 0) breakLine();
        isBroken = false;
        within++;
        count++;
      }
      return true;
    },
    (node) => {
      if (!isLine(node)) return;
      within--;
      // A `br` at the end only gives an empty line its height.
      if (within === 0 && !isBroken) lines.push('');
    },
  );
  if (count === 0) return null;
  return lines
    .map((line) => (line.endsWith('\n') ? line.slice(0, -1) : line))
    .join('\n')
    .replaceAll('\u200b', '')
    .replaceAll('\u00a0', ' ')
    .trimEnd();
}

function hasName(node: DomNode, names: ReadonlySet<string>): boolean {
  const given = (node.getAttribute('class') ?? '').slice(0, longestName).toLowerCase().split(/\s+/);
  return given.some((name) => names.has(name));
}

/** Identifiers in `pre` are not a list of links. Readability would copy `javascript:` links; originals are needed. */
function mendLinks(root: DomNode): void {
  const inCode: DomNode[] = [];
  let preformatted = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      if (node.localName === 'pre') preformatted++;
      if (node.localName === 'a') {
        if (preformatted > 0) inCode.push(node);
        else if (node.getAttribute('href')?.startsWith('javascript:')) node.removeAttribute('href');
      }
      return true;
    },
    (node) => {
      if (node.localName === 'pre') preformatted--;
    },
  );
  for (const link of inCode) {
    moveChildren(link, link.parentNode, link);
    link.remove();
  }
}

function keepAdmonitions(page: DomDocument, root: DomNode): void {
  const isAdmonition = (node: DomNode) =>
    node.localName === 'aside' && admonition.test((node.getAttribute('class') ?? '').slice(0, longestName));
  for (const aside of elementsBelow(root, isAdmonition)) {
    const plain = page.createElement('div');
    moveChildren(aside, plain);
    aside.replaceWith(plain);
  }
}

/** Readability ignores text nodes between a body's elements. */
function wrapBareText(page: DomDocument, body: DomNode): void {
  const isBare = (node: DomNode) => node.nodeType === textNode && readingLength(node.data.trim()) >= shortestBare;
  if (!childrenOf(body).some(isBare)) return;
  const whole = page.createElement('div');
  moveChildren(body, whole);
  body.insertBefore(whole, null);
}
