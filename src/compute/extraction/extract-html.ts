/**
 * Derives title, readable text, sections and facts from the HTML of a page. The page is cleared of boilerplate, Readability finds the
 * article, and what boilerplate it left is trimmed. Where that takes too little, other candidates are compared: what is around parts of one kind
 * (posts, answers), the main element of the cleared page, the article of the page as it was, the visible text, the text that the page declares as data. Hostile pages are refused early.
 * Called on an extraction thread: a large page takes seconds.
 */
import { Readability } from '@mozilla/readability';
import type { Section } from '../../domain/page.ts';
import { clearPage, hiddenStyle, runningLength, weigh } from './clear-page.ts';
import type { DomDocument, DomNode } from './dom-tree.ts';
import { checkMarkup, checkTree } from './extraction-limit.ts';
import { blocksBehindTitle, withLead } from './page-lead.ts';
import { asHeaded, type DeclaredFacts, fact, readDeclaredFacts, uncut, withoutSite } from './page-metadata.ts';
import { parsePage } from './parse-page.ts';
import { preparePage } from './prepare-page.ts';
import { type ReadableText, readableText } from './readable-text.ts';
import { aroundParts, holds, repeatedParts } from './repeated-parts.ts';
import { trimArticle } from './trim-article.ts';

export { ExtractionLimitError } from './extraction-limit.ts';

export interface ExtractedPage {
  title: string | null;
  /** '' where the page has nothing to read. */
  text: string;
  /** One for each heading; offsets into `text`, ascending. */
  sections: Section[];
  author: string | null;
  /** UTC, ISO 8601. */
  published_at: string | null;
  /** As the page declares it, such as `en-GB`. */
  lang: string | null;
  site_name: string | null;
  /** The address of the picture that the page shows of itself. */
  image?: string | null;
}

/** An article shorter than this, in characters, is compared with the page. */
const scrapLength = 200;
/** …and is given up where the page has this many times as much visible text. */
const scrapRatio = 4;
/**
 * An article with less of the cleared page's running text is a part of what there is to read, as one post of a thread is; the second share
 * is for pages that say that they are an article. Chosen with `npm run bench:articles`: with .4 no kind loses on the seen half, listings and
 * services lose on the other; of the pages that say so, articles gain alike from .1 to .3, products lose from .2 on.
 */
const partShare = 0.25;
const declaredPartShare = 0.15;
/** The main element is taken for the page where it has this share of its running text. */
const mainShare = 0.5;
/**
 * Parts of one kind with this share of the cleared page's running text are what there is to read where the article lies in one of them, and has
 * less than this share of theirs. Chosen on the same half: .4 to .75 gain alike.
 */
const partsShare = 0.6;
/** A text that the page declares as data counts from so many characters, and where it is so many times as long as the article. */
const declaredLength = 500;
const declaredRatio = 2;
/** An article of the page as it was is as good as the declared text from this share of its length. */
const coveredShare = 0.8;
/**
 * Sum of the depths of all elements above which Readability is not tried. It takes about 1 µs for each: 0.4 s for the
 * longest encyclopedia articles (300,000), 19 s for 56,000 elements in combs 400 deep (11 million).
 */
const maxDepthSum = 3_000_000;
/** What is on a page but not read: ways to elsewhere, and forms. */
const boilerplate = new Set(['nav', 'header', 'footer', 'aside', 'form', 'dialog', 'menu']);
const nothing: ReadableText = { text: '', sections: [] };

/**
 * Extract a page. `html` is decoded text, of a document or a fragment; `url` serves messages.
 * Errors: ExtractionLimitError for too many or too deeply nested elements.
 */
export function extractHtml(html: string, url: string): ExtractedPage {
  checkMarkup(html, url);
  const page = preparedPage(html, url);
  const root = page.documentElement;
  const depthSum = root === null ? 0 : checkTree(root, url);
  const facts = root === null ? null : readDeclaredFacts(root, url);
  const behindTitle = root === null || facts === null ? [] : blocksBehindTitle(root, facts.title);
  const running = root === null ? 0 : clearPage(root, facts?.isArticle);
  const left = new Set(behindTitle.map(({ node }) => node).filter((node) => isBelow(root, node)));
  const led = (read: ReadableText) =>
    facts === null || read.text === '' ? read : withLead(read, behindTitle, facts, left);
  const isReadable = depthSum <= maxDepthSum;
  const isArticle = facts?.isArticle === true;
  const parts = isReadable && root !== null && !isArticle ? repeatedParts(root) : null;
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
      ? clearedText(preparedPage(html, url), title, isArticle, isOneOf ? aroundParts : mainElement)
      : led(article.read);
  const enough = read.text.length >= scrapLength ? read : moreOf(read, visibleText(preparedPage(html, url)));
  const asItWas = () => (isReadable ? findArticle(preparedPage(html, url), facts).read : nothing);
  const chosen = notLessThanDeclared(enough, facts?.declaredBody ?? '', asItWas, url);
  return {
    title: titleOf(title, facts, url),
    text: chosen.text,
    sections: chosen.sections,
    author: facts?.author ?? null,
    published_at: facts?.published_at ?? null,
    lang: facts?.lang ?? null,
    site_name: facts?.site_name ?? null,
    image: facts?.image ?? null,
  };
}

/** What Readability found, or the page declares, as the page's heading has it. */
function titleOf(found: string | null, facts: DeclaredFacts | null, url: string): string | null {
  if (facts === null) return fact(found);
  const title = withoutSite(fact(found), facts.site_name) ?? facts.title;
  return asHeaded(uncut(title, facts, url), facts.headings, url);
}

function preparedPage(html: string, url: string): DomDocument {
  const page = parsePage(html, url);
  preparePage(page);
  return page;
}

interface Article {
  title: string | null;
  read: ReadableText;
  /** Characters of running text. */
  running: number;
}

const noArticle: Article = { title: null, read: nothing, running: 0 };

/** Readability's article, trimmed; an empty one where it finds none or gives up. Takes the page apart. */
function findArticle(page: DomDocument, facts: DeclaredFacts | null): Article {
  try {
    const article = new Readability<DomNode>(page, { serializer: asNode }).parse();
    const title = article?.title ?? null;
    if (!article?.content) return { ...noArticle, title };
    const running = runningLength(article.content);
    const boilerplate = trimArticle(article.content, facts?.title ?? title);
    return { title, running, read: readableText(article.content, (element) => boilerplate.has(element)) };
  } catch (error) {
    // linkedom passes the children of a node as arguments, and over 100,000 overflow the stack.
    if (error instanceof RangeError) return noArticle;
    throw error;
  }
}

/** Whether clearing has left it. */
function isBelow(root: DomNode | null, node: DomNode): boolean {
  let at: DomNode | null = node;
  while (at !== null && at !== root) at = at.parentNode;
  return at !== null;
}

const asNode = (node: DomNode): DomNode => node;

function moreOf(article: ReadableText, page: ReadableText): ReadableText {
  return article.text === '' || page.text.length > article.text.length * scrapRatio ? page : article;
}

/**
 * A page may say in its data that its article is far longer than what was found: then clearing took too much, or its markup is
 * filled in by scripts.
 */
function notLessThanDeclared(
  found: ReadableText,
  body: string,
  asItWas: () => ReadableText,
  url: string,
): ReadableText {
  if (body.length < declaredLength || body.length < found.text.length * declaredRatio) return found;
  const declared = declaredText(body, url);
  if (declared.text.length < Math.max(declaredLength, found.text.length * declaredRatio)) return found;
  const before = asItWas();
  return before.text.length >= declared.text.length * coveredShare ? before : declared;
}

/** Some give it with its markup. */
function declaredText(body: string, url: string): ReadableText {
  if (!/<(?:p|br|div|h[1-6]|ul)\b/i.test(body)) {
    return {
      text: body
        .replace(/[^\S\n]+/g, ' ')
        .replace(/ ?\n ?/g, '\n')
        .replace(/\n{3,}/g, '\n\n')
        .trim(),
      sections: [],
    };
  }
  checkMarkup(body, url);
  const page = parsePage(body, url);
  if (page.documentElement === null) return nothing;
  checkTree(page.documentElement, url);
  return readableText(page.documentElement, isHidden);
}

/** All but the boilerplate of one element of a page, which `pick` finds in the body once it is cleared. */
function clearedText(
  page: DomDocument,
  title: string | null,
  isArticle: boolean,
  pick: (body: DomNode) => DomNode,
): ReadableText {
  if (page.documentElement !== null) clearPage(page.documentElement, isArticle);
  const body = page.querySelector('body');
  if (body === null) return nothing;
  const picked = pick(body);
  const trimmed = trimArticle(picked, title);
  return readableText(picked, (element) => trimmed.has(element) || isHiddenOrBoilerplate(element));
}

/** What the page calls its main part, where that has much of the running text; else all. */
function mainElement(body: DomNode): DomNode {
  const weights = weigh(body);
  const all = weights.get(body)?.running ?? 0;
  for (const [node, { running }] of weights)
    if ((node.localName === 'main' || node.getAttribute('role') === 'main') && running >= all * mainShare) return node;
  return body;
}

/** The text of the main element, or of all, without navigation and what is hidden. */
function visibleText(page: DomDocument): ReadableText {
  const body = page.querySelector('body') ?? page.documentElement;
  if (body === null) return nothing;
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
