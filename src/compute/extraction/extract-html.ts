/**
 * Extracts title, text, sections and facts from HTML: boilerplate is removed, Readability finds the article, the rest
 * is trimmed. A short result is compared with other candidates: repeated parts (posts, answers), the main element, the
 * original page's article, the visible text, declared text. Runs on a thread: a large page takes seconds.
 */
import { Readability } from '@mozilla/readability';
import { noFacts, type PageFacts } from '../../domain/page-facts.ts';
import { isCall, isFact } from './boilerplate-lines.ts';
import { clearPage, hiddenStyle, neutralizeNames, runningLength, weigh } from './clear-page.ts';
import { type DomNode, isBelow } from './dom-tree.ts';
import { blocksBehindTitle, withLead } from './page-lead.ts';
import { asHeaded, type DeclaredFacts, fact, readDeclaredFacts, uncut, withoutSite } from './page-metadata.ts';
import { checkMarkup, checkTree, type ParsedPage, parsePage } from './parse-page.ts';
import { preparePage } from './prepare-page.ts';
import { type ReadableText, readableText } from './readable-text.ts';
import { aroundParts, holds, repeatedParts } from './repeated-parts.ts';
import { listBlocks, restoreBlocks } from './restore-blocks.ts';
import { folded, type SaidElsewhere, trimArticle } from './trim-article.ts';

/** Its sections are the headings. `description`: of the page, if the text is a scrap without it. */
export interface ExtractedPage extends ReadableText, ExtractedFacts {
  title: string | null;
}

type ExtractedFacts = Pick<PageFacts, 'author' | 'published_at' | 'lang' | 'site_name' | 'image' | 'description'>;

/** A shorter article, in characters, is compared with the page's text. */
const scrapLength = 200;
/** Visible text that is this many times as long replaces such an article. */
const scrapRatio = 4;
/**
 * An article with a smaller share of the page's running text is a part, such as one post. The second if declared.
 * Bench `articles`: listings lose at .4; declared articles gain alike from .1 to .3, products lose from .2.
 */
const partShare = 0.25;
const declaredPartShare = 0.15;
/** Min share of running text in the main element. */
const mainShare = 0.5;
/** Min share of text in repeated parts around the article, and its max share of theirs; .4 to .75 gain alike. */
const partsShare = 0.6;
/** Declared text counts if this many times as long as the article and, unless that is short, this long. */
const declaredLength = 500;
const declaredRatio = 2;
/** The original page's article suffices if it has this share of the declared text's length. */
const coveredShare = 0.8;
/** Max sum of depths for Readability, 1 µs each: 300,000 in long articles; 11 million (19 s) in combs 400 deep. */
const maxDepthSum = 3_000_000;
const boilerplate = new Set(['nav', 'header', 'footer', 'aside', 'form', 'dialog', 'menu']);
const nothing: ReadableText = { text: '', sections: [] };

/** `html`: decoded document or fragment; `url`: for messages. Errors: ExtractionLimitError. */
export function extractHtml(html: string, url: string): ExtractedPage {
  checkMarkup(html, url);
  const page = preparedPage(html, url);
  const { root } = page;
  const depthSum = checkTree(root, url);
  const facts = readDeclaredFacts(root, url);
  const { isArticle, published_at, description } = facts;
  const behindTitle = blocksBehindTitle(root, facts.title);
  const running = clearPage(root, isArticle);
  const left = new Set(behindTitle.map(({ node }) => node).filter((node) => isBelow(node, root)));
  const led = (read: ReadableText) => (read.text === '' ? read : withLead(read, behindTitle, facts, left));
  const isReadable = depthSum <= maxDepthSum;
  const parts = isReadable && !isArticle ? repeatedParts(root) : null;
  const article = isReadable ? findArticle(page, facts) : noArticle;
  const { title } = article;
  const isOneOf =
    parts !== null &&
    parts.running >= running * partsShare &&
    article.running < parts.running * partsShare &&
    holds(parts, article.read.text);
  const isPart = isReadable && article.running < running * (isArticle ? declaredPartShare : partShare);
  const read =
    isOneOf || isPart
      ? clearedText(preparedPage(html, url), { title, published_at }, isArticle, isOneOf ? aroundParts : mainElement)
      : led(article.read);
  const enough = read.text.length >= scrapLength ? read : moreOf(read, visibleText(preparedPage(html, url)));
  const asItWas = () => (isReadable ? findArticle(preparedPage(html, url), facts).read : nothing);
  const declared = facts.declaredBody ?? '';
  const isShell = () =>
    clearedText(preparedPage(html, url), { title, published_at }, isArticle, (body) => body)
      .text.split('\n')
      .every((line) => isCall(line) || isFact(line) || folded(line) === folded(title ?? '') || line === '');
  const chosen =
    declared !== '' && enough.text.length < declaredLength && isShell()
      ? declaredText(declared, url)
      : notLessThanDeclared(enough, declared, asItWas, url);
  const needsDescription =
    chosen.text.length < scrapLength && description !== null && !chosen.text.includes(description);
  return {
    title: titleOf(title, facts, url),
    text: chosen.text,
    sections: chosen.sections,
    author: facts.author,
    published_at,
    lang: facts.lang,
    site_name: facts.site_name,
    image: facts.image,
    ...(needsDescription ? { description } : {}),
  };
}

/** The found or declared title in the form of the page's heading. */
function titleOf(found: string | null, facts: DeclaredFacts, url: string): string | null {
  const title = withoutSite(fact(found), facts.site_name) ?? facts.title;
  return asHeaded(uncut(title, facts, url), facts.headings, url);
}

function preparedPage(html: string, url: string): ParsedPage {
  const page = parsePage(html, url);
  preparePage(page);
  return page;
}

interface Article {
  title: string | null;
  read: ReadableText;
  running: number;
}

const noArticle: Article = { title: null, read: nothing, running: 0 };

/** Readability's article, trimmed; empty if none. Modifies the page. */
function findArticle({ document, root }: ParsedPage, facts: DeclaredFacts): Article {
  try {
    neutralizeNames(root);
    const blocks = listBlocks(root);
    const article = new Readability<DomNode>(document, { serializer: asNode }).parse();
    const title = article?.title ?? null;
    if (!article?.content) return { ...noArticle, title };
    const said = { title: facts.title ?? title, published_at: facts.published_at };
    restoreBlocks(article.content, blocks, said.title);
    const running = runningLength(article.content);
    const boilerplate = trimArticle(article.content, said);
    return { title, running, read: readableText(article.content, (element) => boilerplate.has(element)) };
  } catch (error) {
    // linkedom passes children as arguments, and over 100,000 overflow the stack.
    if (error instanceof RangeError) return noArticle;
    throw error;
  }
}

const asNode = (node: DomNode): DomNode => node;

function moreOf(article: ReadableText, page: ReadableText): ReadableText {
  return article.text === '' || page.text.length > article.text.length * scrapRatio ? page : article;
}

/** If declared data contain a far longer article, too much was removed, or scripts fill the markup. */
function notLessThanDeclared(
  found: ReadableText,
  body: string,
  asItWas: () => ReadableText,
  url: string,
): ReadableText {
  const least = found.text.length < scrapLength ? 1 : declaredLength;
  if (body.length < least || body.length < found.text.length * declaredRatio) return found;
  const declared = declaredText(body, url);
  if (declared.text.length < Math.max(least, found.text.length * declaredRatio)) return found;
  const before = asItWas();
  return before.text.length >= declared.text.length * coveredShare ? before : declared;
}

/** Extracts all text of HTML that is only an article. Text without markup keeps its lines. Errors: as `extractHtml`. */
export function extractArticle(html: string, url: string): ExtractedPage {
  const { text, sections } = /<[a-z/!?]|&(?:#?\w+);/i.test(html) ? markedText(html, url) : plainText(html);
  return { title: null, text, sections, ...noFacts };
}

function declaredText(body: string, url: string): ReadableText {
  return /<(?:p|br|div|h[1-6]|ul)\b/i.test(body) ? markedText(body, url) : plainText(body);
}

function plainText(given: string): ReadableText {
  const text = given
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return { text, sections: [] };
}

function markedText(html: string, url: string): ReadableText {
  checkMarkup(html, url);
  const { root } = parsePage(html, url);
  checkTree(root, url);
  return readableText(root, isHidden);
}

/** All text except boilerplate of the element that `pick` finds in the cleared body. */
function clearedText(
  { root, body }: ParsedPage,
  said: SaidElsewhere,
  isArticle: boolean,
  pick: (body: DomNode) => DomNode,
): ReadableText {
  clearPage(root, isArticle);
  const picked = pick(body);
  const trimmed = trimArticle(picked, said);
  return readableText(picked, (element) => trimmed.has(element) || isHiddenOrBoilerplate(element));
}

/** The main element if it has much of the running text; else everything. */
function mainElement(body: DomNode): DomNode {
  const weights = weigh(body);
  const all = weights.get(body)?.running ?? 0;
  for (const [node, { running }] of weights)
    if ((node.localName === 'main' || node.getAttribute('role') === 'main') && running >= all * mainShare) return node;
  return body;
}

function visibleText({ body }: ParsedPage): ReadableText {
  const all = readableText(body, isHiddenOrBoilerplate);
  return all.text === '' ? readableText(body, isHidden) : all;
}

function isHiddenOrBoilerplate(element: DomNode): boolean {
  return boilerplate.has(element.localName) || element.getAttribute('role') === 'navigation' || isHidden(element);
}

function isHidden(element: DomNode): boolean {
  return (
    element.hasAttribute('hidden') ||
    element.getAttribute('aria-hidden') === 'true' ||
    hiddenStyle.test(element.getAttribute('style') ?? '')
  );
}
