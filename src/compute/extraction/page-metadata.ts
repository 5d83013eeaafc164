/**
 * What a page says of itself: title, author, date of publication, language, name of its site. From JSON-LD, the meta elements
 * that people write (OpenGraph, Dublin Core, Highwire, plain ones), microdata and `<time>`, the most deliberate first. Called by
 * extraction, before the page is taken apart.
 */
import { feedDate } from '../feed/feed-date.ts';
import { type DomNode, elementNode, walkTree } from './dom-tree.ts';
import { type LinkedArticle, readJsonLd } from './json-ld.ts';

export interface DeclaredFacts {
  title: string | null;
  author: string | null;
  /** UTC, ISO 8601. */
  published_at: string | null;
  /** As the page declares it, such as `en-GB`. */
  lang: string | null;
  site_name: string | null;
  /** What the page says in a line or two, often with its first sentences. */
  description: string | null;
  /** Whether the page says that it is an article: one text, not a thread or a list. */
  isArticle: boolean;
  /** The article's text as JSON-LD has it. */
  declaredBody: string | null;
}

const longestFact = 500;
const longestAuthor = 200;
const maxScripts = 50;
/** Elements of one kind that are read: each may hold the whole page. */
const maxPlaces = 20;

const titleNames = ['og:title', 'twitter:title', 'citation_title', 'dc.title', 'dcterms.title', 'parsely-title'];
const authorNames = [
  'author',
  'citation_author',
  'article:author',
  'parsely-author',
  'dc.creator',
  'dcterms.creator',
  'sailthru.author',
  'byl',
];
const dateNames = [
  'article:published_time',
  'og:article:published_time',
  'citation_publication_date',
  'citation_date',
  'dc.date.issued',
  'dcterms.issued',
  'dcterms.created',
  'dc.date',
  'dc.date.created',
  'parsely-pub-date',
  'sailthru.date',
  'date',
  'pubdate',
  'publish-date',
  'publishdate',
  'publication_date',
  'published_time',
  'article.published',
  'release_date',
  'datepublished',
];
const siteNames = ['og:site_name', 'application-name', 'citation_journal_title', 'dc.publisher'];
const descriptionNames = ['description', 'og:description', 'twitter:description'];
const languageNames = ['og:locale', 'dc.language', 'content-language', 'citation_language'];
const bylineClass = /(?:^|[\s_-])(?:byline|author(?:-?name)?|p-author|post-author|entry-author)(?=$|[\s_-])/i;

interface Found {
  metas: Map<string, string[]>;
  scripts: string[];
  window: string | null;
  heading: string | null;
  authors: string[];
  bylines: string[];
  itemDates: string[];
  times: string[];
}

/** Read the facts. One walk over the tree. */
export function readDeclaredFacts(root: DomNode): DeclaredFacts {
  const found = gather(root);
  const linked = readJsonLd(found.scripts);
  const first = (names: readonly string[]): string | null =>
    names.flatMap((name) => found.metas.get(name) ?? []).find((value) => fact(value) !== null) ?? null;
  const site_name = fact(first(siteNames)) ?? fact(linked?.publisher);
  return {
    title:
      withoutSite(fact(linked?.headline) ?? fact(first(titleNames)) ?? fact(found.window), site_name) ??
      fact(found.heading),
    author: authorOf(found, linked),
    published_at: dateOf(found, linked, first),
    lang: languageOf(root.getAttribute('lang') ?? first(languageNames) ?? linked?.language),
    site_name,
    description: fact(first(descriptionNames)),
    isArticle: linked?.isArticle === true || /^article$/i.test(first(['og:type'])?.trim() ?? ''),
    declaredBody: linked?.body ?? null,
  };
}

function gather(root: DomNode): Found {
  const found: Found = {
    metas: new Map(),
    scripts: [],
    window: null,
    heading: null,
    authors: [],
    bylines: [],
    itemDates: [],
    times: [],
  };
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode) return false;
      const name = node.localName;
      if (name === 'meta') {
        const key =
          node.getAttribute('property') ??
          node.getAttribute('name') ??
          node.getAttribute('itemprop') ??
          node.getAttribute('http-equiv');
        const content = node.getAttribute('content');
        if (key !== null && content !== null) {
          const same = found.metas.get(key.trim().toLowerCase()) ?? [];
          same.push(content);
          found.metas.set(key.trim().toLowerCase(), same);
        }
      } else if (name === 'script') {
        const isLinkedData = /^application\/ld\+json/i.test(node.getAttribute('type') ?? '');
        if (isLinkedData && found.scripts.length < maxScripts) found.scripts.push(node.textContent ?? '');
      } else if (name === 'title') found.window ??= node.textContent;
      else if (name === 'h1') found.heading ??= node.textContent;
      if (name === 'svg' || name === 'script' || name === 'style') return false;
      const prop = node.getAttribute('itemprop');
      const note = (list: string[], most: number, value: () => string) => {
        if (list.length < most) list.push(value());
      };
      const dated = () => node.getAttribute('datetime') ?? node.getAttribute('content') ?? shortText(node);
      if (prop === 'datePublished') note(found.itemDates, maxPlaces, dated);
      else if (name === 'time') note(found.times, maxPlaces, dated);
      if (prop === 'author' || node.getAttribute('rel') === 'author')
        note(found.authors, maxPlaces, () => shortText(node));
      else if (bylineClass.test((node.getAttribute('class') ?? '').slice(0, longestFact))) {
        note(found.bylines, maxPlaces, () => shortText(node));
      }
      return true;
    },
    () => {},
  );
  return found;
}

/** The text of a small element; '' for one that is none. */
function shortText(node: DomNode): string {
  const text = (node.textContent ?? '').replace(/\s+/g, ' ').trim();
  return text.length <= longestAuthor ? text : '';
}

function authorOf(found: Found, linked: LinkedArticle | null): string | null {
  const metas = authorNames
    .map((name) => found.metas.get(name) ?? [])
    .find((values) => values.some((value) => person(value) !== null));
  for (const candidates of [linked?.authors ?? [], metas ?? [], found.authors.slice(0, 5), found.bylines.slice(0, 1)]) {
    const names = [...new Set(candidates.flatMap((each) => person(each) ?? []))];
    if (names.length > 0) return names.join(', ').slice(0, longestAuthor);
  }
  return null;
}

/** A name: no address, nothing long, no date behind it. */
function person(given: string): string | null {
  const name = given
    .slice(0, 2 * longestAuthor)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:(?:written|posted|story|text) )?(?:by|von|par|por|di|door)\b:?\s+/i, '')
    .replace(/ ?[|•·–—].*/s, '')
    .replace(/,? ?\b(?:updated|published|posted|on|am)\b.*|,? ?\d.*/is, '');
  return name === '' || name.length > 100 || /https?:|www\.|^@|[{}<>]|\bundefined\b|^(?:null|admin|staff)$/i.test(name)
    ? null
    : name;
}

function dateOf(
  found: Found,
  linked: LinkedArticle | null,
  first: (names: readonly string[]) => string | null,
): string | null {
  const distinct = new Set(found.times.flatMap((time) => instantOf(time) ?? []));
  return (
    instantOf(linked?.published) ??
    instantOf(first(dateNames)) ??
    instantOf(found.itemDates.find((date) => instantOf(date) !== null)) ??
    // Many times on a page are those of other articles and of comments.
    (distinct.size === 1 ? ([...distinct][0] ?? null) : null)
  );
}

/** Also "November 19, 2019", as Americans write. */
function instantOf(text: string | null | undefined): string | null {
  const given = (text ?? '').trim().slice(0, 100);
  const american = /^(?:[a-z]{3,9},? )?([a-z]{3,9})\.? (\d{1,2}),? (\d{4})\b/i.exec(given);
  const compact = /^(\d{4})(\d\d)(\d\d)$/.exec(given.replaceAll('/', ''));
  const date = feedDate(
    american !== null
      ? `${american[2]} ${american[1]} ${american[3]}`
      : compact !== null
        ? compact.slice(1).join('-')
        : given,
  );
  return date === null || date < '1800' ? null : date;
}

/** A language tag, or null for what is none. */
function languageOf(text: string | null | undefined): string | null {
  const tag = (text ?? '').trim().replaceAll('_', '-');
  return /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(tag) ? tag : null;
}

/** A title without the site's name behind it. */
export function withoutSite(title: string | null, site: string | null): string | null {
  if (title === null || site === null || !title.toLowerCase().endsWith(site.toLowerCase())) return title;
  const before = title.slice(0, -site.length).trimEnd();
  const rest = before.replace(/(?:::|[|–—·»:/-])$/, '').trimEnd();
  return rest === '' || rest === before ? title : rest;
}

/** Trimmed, on one line, bounded; null where nothing is left. */
export function fact(text: string | null | undefined): string | null {
  const line = (text ?? '')
    .slice(0, 20 * longestFact)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longestFact)
    .trimEnd();
  return line === '' ? null : line;
}
