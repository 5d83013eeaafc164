/**
 * Takes boilerplate out of a page before its article is looked for: by what elements are (`nav`, `figcaption`), by what their
 * roles and attributes say, and by the words in their names. What holds much of the page's running text stays whatever it calls
 * itself, so that no article is lost to a class name. Called by extraction.
 */
import { boilerplateName, isComments } from './boilerplate-signs.ts';
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';

/** A piece of text outside links of at least so many characters is running text. */
const shortestRunning = 40;
/** Share of the page's running text above which nothing is boilerplate. */
const largestShare = 0.25;
/** Running text that an element may hold which is boilerplate by what it is, in characters. */
const longestByKind = 3000;
const longestProp = 400;
const maxFrames = 3;
/** Text for readers without scripts says less than this where it only says that scripts are needed, in characters. */
const leastWithoutScripts = 500;

/** A sign of its own: comments on an article go however much they hold. */
const commentsOfArticle = 'comments on an article';
const boilerplate = new Set(['nav', 'figcaption', 'aside', 'dialog', 'menu', 'noscript', 'button', 'select']);
/** What consists of words. */
const textLines = new Set('h1 h2 h3 h4 h5 h6 p pre'.split(' '));
const boilerplateRoles = new Set(
  'navigation banner contentinfo complementary search menu menubar dialog alert alertdialog toolbar tooltip'.split(' '),
);
const boilerplateProps = new Set(
  'author datePublished dateModified dateCreated publisher keywords caption copyrightHolder interactionCount'.split(
    ' ',
  ),
);
/** A style attribute that hides its element; `--footer-display: none` does not. */
export const hiddenStyle = /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** Running text below an element, in characters, and whether it holds what calls itself the article. */
interface Weight {
  running: number;
  holdsArticle: boolean;
}

/**
 * Remove the boilerplate below `root`. A kind of boilerplate that would take much of the page's running text with it, all its elements
 * together, is none on this page: where comments are what there is to read, they stay, unless the page says that it is an article
 * (`isArticle`). Returns how much running text is left, in characters. Linear in the number of nodes.
 */
export function clearPage(root: DomNode, isArticle = false): number {
  unframeQuotes(root);
  const weights = weigh(root);
  const all = weights.get(root)?.running ?? 0;
  const most = all * largestShare;
  showText(weights, all);
  const found = new Map<string, { nodes: DomNode[]; running: number }>();
  walkTree(
    root,
    (node) => {
      const weight = weights.get(node);
      if (weight === undefined || node.localName === 'head') return false;
      const sign = weight.holdsArticle ? null : signOf(node, weight.running, most, isArticle);
      // A name inside a heading or a paragraph says what a word is there for, such as `toc-backref`, and the word is still read.
      if (sign === null) return !textLines.has(node.localName);
      const same = found.get(sign) ?? { nodes: [], running: 0 };
      same.nodes.push(node);
      same.running += weight.running;
      found.set(sign, same);
      return false;
    },
    () => {},
  );
  let left = all;
  for (const [sign, { nodes, running }] of found) {
    if (running > most && sign !== commentsOfArticle) continue;
    left -= running;
    for (const node of nodes) node.remove();
  }
  return left;
}

/** Running text below `root`, in characters. */
export function runningLength(root: DomNode): number {
  return weigh(root).get(root)?.running ?? 0;
}

/**
 * Show what scripts would show: panels of tabs, of which a reader sees one at a time, and, where these have most of the running text,
 * elements that are hidden until a page is ready, and the text for readers without scripts.
 */
function showText(weights: ReadonlyMap<DomNode, Weight>, all: number): void {
  for (const [node, { running }] of weights) {
    if (running <= all / 2 && node.getAttribute('role') !== 'tabpanel') continue;
    node.removeAttribute('hidden');
    if (node.getAttribute('aria-hidden') === 'true') node.removeAttribute('aria-hidden');
    if (hiddenStyle.test(node.getAttribute('style') ?? '')) node.removeAttribute('style');
    if (node.localName === 'noscript' && running >= leastWithoutScripts) {
      for (let child = node.firstChild; child !== null; child = node.firstChild)
        node.parentNode?.insertBefore(child, node);
    }
  }
}

/**
 * Take quotations out of what is only their frame, such as one for posts of another site: neither its name, "social", which means
 * a row of buttons elsewhere, nor its share of links, which Readability goes by, says anything about a quotation.
 */
function unframeQuotes(root: DomNode): void {
  const quotes: DomNode[] = [];
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      if (node.localName === 'blockquote') quotes.push(node);
      return true;
    },
    () => {},
  );
  for (const quote of quotes) {
    for (
      let i = 0, frame = quote.parentNode;
      i < maxFrames && frame !== null && frame !== root && isFrame(frame);
      i++
    ) {
      frame.replaceWith(quote);
      frame = quote.parentNode;
    }
  }
}

/** It has one child that can be read, and is no list's or article's part. */
function isFrame(node: DomNode): boolean {
  if (node.localName !== 'div' && node.localName !== 'figure' && node.localName !== 'span') return false;
  let read = 0;
  for (let child = node.firstChild; child !== null && read < 2; child = child.nextSibling) {
    const isBlank =
      child.nodeType === textNode
        ? child.data.trim() === ''
        : child.nodeType !== elementNode || child.localName === 'script';
    if (!isBlank) read++;
  }
  return read === 1;
}

export function weigh(root: DomNode): Map<DomNode, Weight> {
  const weights = new Map<DomNode, Weight>();
  const path: Weight[] = [{ running: 0, holdsArticle: false }];
  weights.set(root, path[0]);
  let links = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType === textNode) {
        const length = links === 0 ? node.data.trim().length : 0;
        if (length >= shortestRunning) path[path.length - 1].running += length;
        return false;
      }
      if (node.nodeType !== elementNode || node.localName === 'script' || node.localName === 'style') return false;
      const weight = { running: 0, holdsArticle: isArticleElement(node) };
      weights.set(node, weight);
      path.push(weight);
      if (node.localName === 'a') links++;
      return true;
    },
    (node) => {
      const weight = path.pop();
      const outer = path[path.length - 1];
      if (node.localName === 'a') links--;
      if (weight === undefined) return;
      outer.running += weight.running;
      outer.holdsArticle ||= weight.holdsArticle;
    },
  );
  return weights;
}

function isArticleElement(node: DomNode): boolean {
  const name = node.localName;
  return name === 'html' || name === 'body' || name === 'main' || node.getAttribute('itemprop') === 'articleBody';
}

/** By what an element is boilerplate, or null: as one that holds more than `most` is, unless it holds comments on an article. */
function signOf(node: DomNode, running: number, most: number, isArticle: boolean): string | null {
  // Names of code say what kind of code it is: `comments`.
  const isCode = node.localName === 'code';
  const names = isCode ? ' ' : `${node.getAttribute('class') ?? ''} ${node.getAttribute('id') ?? ''}`;
  if (isArticle && isComments(names)) return commentsOfArticle;
  if (running > most) return null;
  if (boilerplate.has(node.localName) && running <= longestByKind) return node.localName;
  const role = node.getAttribute('role');
  if (role !== null && boilerplateRoles.has(role) && running <= longestByKind) return role;
  const prop = node.getAttribute('itemprop');
  if (prop !== null && boilerplateProps.has(prop) && running <= longestProp) return prop;
  if ((node.hasAttribute('hidden') || hiddenStyle.test(node.getAttribute('style') ?? '')) && running <= longestByKind)
    return 'hidden';
  const named = names.length === 1 ? null : boilerplateName(names);
  return named !== null && running <= named.longest ? named.sign : null;
}
