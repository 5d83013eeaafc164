/**
 * Derives title, readable text and sections from the HTML of a page. Readability finds the article; where it finds none, or
 * a scrap of a page that has far more to read, the visible text of the page is taken. Hostile pages are refused early.
 * Called on a work thread: a large page takes seconds.
 */
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import type { DomDocument, DomNode } from './dom-tree.ts';
import { checkMarkup, checkTree, ExtractionLimitError } from './extraction-limit.ts';
import type { SectionStart } from './merge-sections.ts';
import { type ReadableText, readableText } from './readable-text.ts';

export { ExtractionLimitError } from './extraction-limit.ts';

export interface ExtractedPage {
  title: string | null;
  /** '' where the page has nothing to read. */
  text: string;
  /** One for each heading; offsets into `text`, ascending. */
  sections: SectionStart[];
  byline: string | null;
  /** UTC, ISO 8601. */
  published_at: string | null;
  /** As the page declares it, such as `en-GB`. */
  lang: string | null;
}

/** An article shorter than this, in characters, is compared with the page. */
const scrapLength = 200;
/** …and is given up where the page has this many times as much visible text. */
const scrapRatio = 4;
/**
 * Sum of the depths of all elements above which Readability is not tried. It takes about 1 µs for each: 0.4 s for the
 * longest encyclopedia articles (300,000), 19 s for 56,000 elements in combs 400 deep (11 million).
 */
const maxDepthSum = 3_000_000;
/** What is on a page but not read: ways to elsewhere, and forms. */
const furniture = new Set(['nav', 'header', 'footer', 'aside', 'form', 'dialog', 'menu']);
const hiddenStyle = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;
const longestMeta = 500;

/**
 * Extract a page. `html` is decoded text, of a document or a fragment; `url` serves messages.
 * Errors: ExtractionLimitError for too many or too deeply nested elements.
 */
export function extractHtml(html: string, url: string): ExtractedPage {
  checkMarkup(html, url);
  const page = parsePage(html, url);
  const depthSum = page.documentElement === null ? 0 : checkTree(page.documentElement, url);
  const lang = metaText(page.documentElement?.getAttribute('lang'));
  const title = pageTitle(page);
  const article = depthSum > maxDepthSum ? null : findArticle(page);
  const read = article?.content ? readableText(article.content) : { text: '', sections: [] };
  const chosen = read.text.length >= scrapLength ? read : moreOf(read, visibleText(parsePage(html, url)));
  return {
    title: metaText(article?.title) ?? title,
    text: chosen.text,
    sections: chosen.sections,
    byline: metaText(article?.byline),
    published_at: instant(article?.publishedTime),
    lang: metaText(article?.lang) ?? lang,
  };
}

function parsePage(html: string, url: string): DomDocument {
  const whole = /<html[\s>]/i.test(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`;
  try {
    return parseHTML(whole).document;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ExtractionLimitError(`page has an element with too many class names: ${url}`, { cause: error });
  }
}

/** Readability's article; null where it finds none or gives up. Takes the page apart. */
function findArticle(page: DomDocument) {
  try {
    return new Readability<DomNode>(page, { serializer: asNode }).parse();
  } catch (error) {
    // linkedom passes the children of a node as arguments, and over 100,000 overflow the stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const asNode = (node: DomNode): DomNode => node;

function moreOf(article: ReadableText, page: ReadableText): ReadableText {
  return article.text === '' || page.text.length > article.text.length * scrapRatio ? page : article;
}

/** The text of the main element, or of all, without navigation and what is hidden. */
function visibleText(page: DomDocument): ReadableText {
  const body = page.querySelector('body') ?? page.documentElement;
  if (body === null) return { text: '', sections: [] };
  const all = readableText(body, isHiddenOrFurniture);
  return all.text === '' ? readableText(body, isHidden) : all;
}

function isHiddenOrFurniture(element: DomNode): boolean {
  return furniture.has(element.localName) || element.getAttribute('role') === 'navigation' || isHidden(element);
}

function isHidden(element: DomNode): boolean {
  return (
    element.hasAttribute('hidden') ||
    element.getAttribute('aria-hidden') === 'true' ||
    hiddenStyle.test(element.getAttribute('style') ?? '')
  );
}

/** The title that the page gives itself for others to show, else that of its window, else its first heading. */
function pageTitle(page: DomDocument): string | null {
  return (
    metaText(page.querySelector('meta[property="og:title"]')?.getAttribute('content')) ??
    metaText(page.querySelector('title')?.textContent) ??
    metaText(page.querySelector('h1')?.textContent)
  );
}

/** Trimmed, on one line, bounded; null where nothing is left. */
function metaText(text: string | null | undefined): string | null {
  const line = (text ?? '').replace(/\s+/g, ' ').trim().slice(0, longestMeta).trimEnd();
  return line === '' ? null : line;
}

/** A time with an offset, or a date (midnight UTC); a time without an offset is read as UTC; null for anything else. */
function instant(text: string | null | undefined): string | null {
  const given = (text ?? '').trim();
  const naive = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(given);
  const time = Date.parse(naive ? `${given.replace(' ', 'T')}Z` : given);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
