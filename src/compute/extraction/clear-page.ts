/** Removes boilerplate by element, role, attributes and names before the article search, unless it has much text. */
import { boilerplateName, isComments, isOfComments, nameNeutralizer } from './boilerplate-signs.ts';
import { type DomNode, elementNode, elementsBelow, moveChildren, textNode, walkTree } from './dom-tree.ts';
import { readingLength } from './readable-text.ts';

/** Characters of text outside links that count as running text. */
const shortestRunning = 40;
/** Boilerplate has at most this share of the running text. */
const largestShare = 0.25;
/** Max running text, in characters, of an element that is boilerplate by its kind. */
const longestByKind = 3000;
/** Max running text of boilerplate by name, or of a kind that articles use for text, too: a few sentences. */
export const longestNamed = 600;
const longestProp = 400;
const maxFrames = 3;
/** Min characters of a `noscript` text that is more than a request to enable scripts. */
const leastWithoutScripts = 500;

/** Comments on an article are removed at any length. */
const commentsOfArticle = 'comments on an article';
const boilerplate = new Set(['nav', 'figcaption', 'aside', 'dialog', 'menu', 'noscript', 'button', 'select']);
const oftenText = new Set(['aside', 'hidden']);
/** Headings give these elements automatic ids. */
const namedByHeading = new Set('h1 h2 h3 h4 h5 h6 p dt dd tr td section'.split(' '));
/** Names that come from a template, not from a heading. */
const namedByTemplate = /(?:^|[-_])(?:footer|sidebar|related|newsletter)(?:$|[-_])/i;
const textLines = new Set('h1 h2 h3 h4 h5 h6 p pre'.split(' '));
const boilerplateRoles = new Set(
  'navigation banner contentinfo complementary search menu menubar dialog alert alertdialog toolbar tooltip'.split(' '),
);
const boilerplateProps = new Set(
  'author datePublished dateModified dateCreated publisher keywords caption copyrightHolder interactionCount'.split(
    ' ',
  ),
);
/** A style that hides; `--footer-display: none` does not. */
export const hiddenStyle = /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** Running text below an element, in characters, and whether it contains an article or code. */
interface Weight {
  running: number;
  holdsArticle: boolean;
  holdsCode: boolean;
}

/**
 * Removes boilerplate below `root`, but no kind that has much of the page's text in total: comments may be the main
 * text, unless the page is an article (`isArticle`). Returns the remaining running text, in characters. Linear.
 */
export function clearPage(root: DomNode, isArticle = false): number {
  unframeQuotes(root);
  const weights = weigh(root);
  const all = weights.get(root)?.running ?? 0;
  const most = all * largestShare;
  showText(weights, all);
  const found = new Map<string, { nodes: DomNode[]; running: number }>();
  walkTree(root, (node) => {
    const weight = weights.get(node);
    if (weight === undefined || node.localName === 'head') return false;
    const sign = weight.holdsArticle ? null : signOf(node, weight, most, isArticle);
    // A name in a heading or paragraph, such as `toc-backref`, belongs to a word of the text.
    if (sign === null) return !textLines.has(node.localName);
    const same = found.get(sign) ?? { nodes: [], running: 0 };
    same.nodes.push(node);
    same.running += weight.running;
    found.set(sign, same);
    return false;
  });
  let left = all;
  for (const [sign, { nodes, running }] of found) {
    if (running > most && sign !== commentsOfArticle) continue;
    left -= running;
    for (const node of nodes) node.remove();
  }
  return left;
}

/** Neutralize names for Readability, except in code, whose names may be languages. Linear. */
export function neutralizeNames(root: DomNode): void {
  const neutral = nameNeutralizer();
  let inCode = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      if (isCodeElement(node)) inCode++;
      for (const attribute of ['class', 'id']) {
        const names = node.getAttribute(attribute);
        if (names === null) continue;
        if (inCode > 0 || (attribute === 'id' && isNamedByHeading(node))) node.removeAttribute(attribute);
        else node.setAttribute(attribute, neutral(names));
      }
      return true;
    },
    (node) => {
      if (isCodeElement(node)) inCode--;
    },
  );
}

const isCodeElement = ({ localName }: DomNode): boolean => localName === 'pre' || localName === 'code';

/** Length of the running text, in characters. */
export function runningLength(root: DomNode): number {
  return weigh(root).get(root)?.running ?? 0;
}

/** Shows what scripts would: tab panels and, if most text is hidden, elements hidden during loading and `noscript`. */
function showText(weights: ReadonlyMap<DomNode, Weight>, all: number): void {
  for (const [node, { running }] of weights) {
    if (running <= all / 2 && node.getAttribute('role') !== 'tabpanel') continue;
    node.removeAttribute('hidden');
    if (node.getAttribute('aria-hidden') === 'true') node.removeAttribute('aria-hidden');
    if (hiddenStyle.test(node.getAttribute('style') ?? '')) node.removeAttribute('style');
    if (node.localName === 'noscript' && running >= leastWithoutScripts) moveChildren(node, node.parentNode, node);
  }
}

/** Unwrap quotations from frames, such as embedded posts: their name ("social") and links look like boilerplate. */
function unframeQuotes(root: DomNode): void {
  for (const quote of elementsBelow(root, ({ localName }) => localName === 'blockquote')) {
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

/** Whether a node has a single readable child, outside of lists and articles. */
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
  const path: Weight[] = [{ running: 0, holdsArticle: false, holdsCode: false }];
  weights.set(root, path[0]);
  let links = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType === textNode) {
        const length = links === 0 ? readingLength(node.data.trim()) : 0;
        if (length >= shortestRunning) path[path.length - 1].running += length;
        return false;
      }
      if (node.nodeType !== elementNode || node.localName === 'script' || node.localName === 'style') return false;
      const weight = { running: 0, holdsArticle: isArticleElement(node), holdsCode: node.localName === 'pre' };
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
      outer.holdsCode ||= weight.holdsCode;
    },
  );
  return weights;
}

function isArticleElement(node: DomNode): boolean {
  const name = node.localName;
  return name === 'html' || name === 'body' || name === 'main' || node.getAttribute('itemprop') === 'articleBody';
}

/** Whether a name hides the element, and no responsive name shows it again: `hidden lg:block`. */
function isHiddenByName(names: string): boolean {
  const all = names.split(/\s+/);
  return all.includes('hidden') && !all.some((name) => /:|^(?:d|visible)-/.test(name));
}

const longestOf = (kind: string): number => (oftenText.has(kind) ? longestNamed : longestByKind);

function isNamedByHeading(node: DomNode): boolean {
  if (!namedByHeading.has(node.localName)) return false;
  const id = node.getAttribute('id') ?? '';
  return textLines.has(node.localName) || !(isOfComments(id) || namedByTemplate.test(id));
}

/** Null if the element is not boilerplate, or has more text than `most`. Comments on an article have no limit. */
function signOf(node: DomNode, { running, holdsCode }: Weight, most: number, isArticle: boolean): string | null {
  const id = isNamedByHeading(node) ? '' : (node.getAttribute('id') ?? '');
  const names = isCodeElement(node) ? ' ' : `${node.getAttribute('class') ?? ''} ${id}`;
  if (isArticle && isComments(names)) return commentsOfArticle;
  if (running > most || holdsCode) return null;
  if (boilerplate.has(node.localName) && running <= longestOf(node.localName)) return node.localName;
  const role = node.getAttribute('role');
  if (role !== null && boilerplateRoles.has(role) && running <= longestByKind) return role;
  const prop = node.getAttribute('itemprop');
  if (prop !== null && boilerplateProps.has(prop) && running <= longestProp) return prop;
  const isHidden =
    node.hasAttribute('hidden') || hiddenStyle.test(node.getAttribute('style') ?? '') || isHiddenByName(names);
  if (isHidden && running <= longestOf('hidden')) return 'hidden';
  return names.length === 1 || running > longestNamed ? null : boilerplateName(names);
}
