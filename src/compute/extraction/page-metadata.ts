/** A page's declared facts (JSON-LD, meta, microdata, `<time>`), most deliberate first. Read before any clean-up. */
import { decodeHTMLStrict } from 'entities';
import { itemUrl } from '../feed/feed.ts';
import { feedDate } from '../feed/feed-date.ts';
import { type DomNode, elementNode, textNode, walkTree } from './dom-tree.ts';
import { type LinkedArticle, readJsonLd } from './json-ld.ts';
import { metaNames } from './meta-names.ts';
import { authorSign, bylineAuthors, longestAuthor, markedAuthors, person } from './page-author.ts';
import { addressDate, writtenDate } from './written-dates.ts';

export interface DeclaredFacts {
  title: string | null;
  author: string | null;
  published_at: string | null;
  lang: string | null;
  site_name: string | null;
  /** Absolute address of the page's own picture. */
  image: string | null;
  description: string | null;
  /** The window title: heading, site name, or both. */
  window: string | null;
  headings: string[];
  subheadings: string[];
  isArticle: boolean;
  declaredBody: string | null;
}

const longestFact = 500;
const longestAddress = 2000;
const maxScripts = 50;
/** Elements read per kind: each may contain the whole page. */
const maxPlaces = 20;

/** Classes and ids of a displayed date, and of elements with dates of other things. */
const dateClass = /date|datum|publish|posted|pubdate|timestamp|erstellt|fecha|created/i;
const foreignDates =
  /comment|nav|related|teaser|copyright|footer|event|sidebar|widget|update|modified|access|retriev|reference|cit(?:e|ation)|revision/i;
const publishedClass = /publish|posted|pubdate|created/i;
const foreignLabel = /(?:updated|modified|changed|revised|revision|retrieved|accessed)(?: (?:on|at))?[\s:]*$/i;

interface Found {
  metas: Map<string, string[]>;
  scripts: string[];
  window: string | null;
  base: string | null;
  headings: string[];
  subheadings: string[];
  authors: DomNode[];
  bylines: DomNode[];
  itemDates: string[];
  times: Shown[];
  dates: Shown[];
}

interface Shown {
  text: string;
  isBehind: boolean;
}

export function readDeclaredFacts(root: DomNode, url: string): DeclaredFacts {
  const found = gather(root);
  const linked = readJsonLd(found.scripts);
  const first = (names: readonly string[]): string | null =>
    names.flatMap((name) => found.metas.get(name) ?? []).find((value) => fact(value) !== null) ?? null;
  const site_name = declared(first(metaNames.site)) ?? declared(linked?.publisher);
  const images = [...metaNames.image.flatMap((name) => found.metas.get(name) ?? []), linked?.image];
  const base = addressOf(found.base, url) ?? url;
  return {
    title:
      withoutSite(declared(linked?.headline) ?? declared(first(metaNames.title)) ?? fact(found.window), site_name) ??
      fact(found.headings[0]),
    author: authorOf(found, linked, site_name),
    published_at: dateOf(found, linked, url),
    lang: languageOf(
      root.getAttribute('lang') ?? root.getAttribute('xml:lang') ?? first(metaNames.language) ?? linked?.language,
    ),
    site_name,
    image: images.flatMap((image) => addressOf(image, base) ?? [])[0] ?? null,
    description: declared(first(metaNames.description)),
    window: fact(found.window),
    headings: found.headings.flatMap((heading) => fact(heading) ?? []),
    subheadings: found.subheadings.flatMap((heading) => fact(heading) ?? []),
    isArticle: linked?.isArticle === true || /^article$/i.test(first(metaNames.kind)?.trim() ?? ''),
    declaredBody: linked?.body ?? null,
  };
}

function gather(root: DomNode): Found {
  const found: Found = {
    metas: new Map(),
    scripts: [],
    window: null,
    base: null,
    headings: [],
    subheadings: [],
    authors: [],
    bylines: [],
    itemDates: [],
    times: [],
    dates: [],
  };
  walkTree(root, (node) => {
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
    } else if (name === 'base') found.base ??= node.getAttribute('href');
    else if (name === 'title') found.window ??= node.textContent;
    else if (name === 'h1' && found.headings.length < maxPlaces) found.headings.push(node.textContent ?? '');
    else if (name === 'h2' && found.subheadings.length < maxPlaces) found.subheadings.push(node.textContent ?? '');
    if (name === 'svg' || name === 'script' || name === 'style') return false;
    const note = <Value>(list: Value[], value: () => Value) => {
      if (list.length < maxPlaces) list.push(value());
    };
    const dated = () => node.getAttribute('datetime') ?? node.getAttribute('content') ?? shortText(node);
    const shown = (text: string): Shown => ({ text, isBehind: found.headings.length > 0 });
    if (node.getAttribute('itemprop') === 'datePublished') note(found.itemDates, dated);
    else if (name === 'time') {
      if (!isForeignTime(node)) note(found.times, () => shown(dated()));
    } else if (isDate(node)) note(found.dates, () => shown(shortText(node)));
    const sign = authorSign(node);
    if (sign === 'marked') note(found.authors, () => node);
    else if (sign === 'byline') note(found.bylines, () => node);
    return true;
  });
  return found;
}

/** Text of an element; '' if it is large. */
function shortText(node: DomNode): string {
  const text = (node.textContent ?? '').replace(/\s+/g, ' ').trim();
  return text.length <= longestAuthor ? text : '';
}

const namesOf = (node: DomNode): string =>
  `${node.getAttribute('class') ?? ''} ${node.getAttribute('id') ?? ''}`.slice(0, longestFact);

function isDate(node: DomNode): boolean {
  const words = namesOf(node);
  return dateClass.test(words) && !foreignDates.test(words);
}

/** Whether names or preceding words show the date of a change or of another thing. Some themes use both classes. */
function isForeignTime(node: DomNode): boolean {
  const names = namesOf(node);
  if (foreignDates.test(names) && !publishedClass.test(names)) return true;
  let before = node.previousSibling;
  if (before?.nodeType === textNode && before.data.trim() === '') before = before.previousSibling;
  const text = before?.firstChild?.nextSibling === null ? before.firstChild : before;
  return text?.nodeType === textNode && foreignLabel.test(text.data.slice(-longestAuthor));
}

/** If JSON-LD names only the site as author, the markup may name a person. */
function authorOf(found: Found, linked: LinkedArticle | null, site: string | null): string | null {
  const metas = metaNames.author
    .map((name) => found.metas.get(name) ?? [])
    .find((values) => values.some((value) => person(value) !== null));
  const declared = [linked?.authors ?? [], metas ?? []].map((names) => names.flatMap((each) => person(each) ?? []));
  const candidates = [...declared, markedAuthors(found.authors), bylineAuthors(found.bylines)];
  const sites = [site, linked?.publisher ?? null].flatMap((each) => (each === null ? [] : letters(each)));
  const persons = (linked?.persons ?? []).map((name) => person(name));
  const isSite = (name: string) =>
    !persons.includes(name) && (sites.includes(letters(name)) || /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,4}$/i.test(name));
  const names =
    candidates.find((each) => each.some((name) => !isSite(name))) ?? candidates.find((each) => each.length > 0);
  return names === undefined ? null : [...new Set(names)].join(', ').slice(0, longestAuthor);
}

const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

function dateOf(found: Found, linked: LinkedArticle | null, url: string): string | null {
  const metas = metaNames.date.flatMap((name) => found.metas.get(name) ?? []).filter((value) => fact(value) !== null);
  return (
    firstOf([linked?.published, metas[0], ...found.itemDates], instantOf) ??
    firstOf([linked?.published, ...metas, ...found.itemDates], writtenDate) ??
    addressDate(url) ??
    nearest(found.times) ??
    nearest(found.dates)
  );
}

function firstOf(given: readonly (string | null | undefined)[], read: (text: string) => string | null): string | null {
  for (const text of given) {
    const date = read(text ?? '');
    if (date !== null) return date;
  }
  return null;
}

/** The first date after the heading, as later ones belong to other articles and comments; or else the only date. */
function nearest(shown: readonly Shown[]): string | null {
  const dates = shown.flatMap(({ text, isBehind }) => {
    const date = instantOf(text) ?? writtenDate(text);
    return date === null ? [] : [{ date, isBehind }];
  });
  const behind = dates.find(({ isBehind }) => isBehind);
  if (behind !== undefined) return behind.date;
  const days = new Set(dates.map(({ date }) => date.slice(0, 10)));
  return days.size === 1 ? (dates[0]?.date ?? null) : null;
}

/** Also reads dates such as "November 19, 2019". */
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

function addressOf(text: string | null | undefined, base: string): string | null {
  const address = itemUrl(text ?? '', [base]);
  return address === null || address.length > longestAddress ? null : address;
}

function languageOf(text: string | null | undefined): string | null {
  const tag = (text ?? '').trim().replaceAll('_', '-');
  return /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(tag) ? tag : null;
}

export function withoutSite(title: string | null, site: string | null): string | null {
  if (title === null || site === null || !title.toLowerCase().endsWith(site.toLowerCase())) return title;
  const before = title.slice(0, -site.length).trimEnd();
  const rest = before.replace(/(?:::|[|–—·»:/-])$/, '').trimEnd();
  return rest === '' || rest === before ? title : rest;
}

/** Separators around the site's name. A colon may belong to the title. */
const nameSeparator = /^ (?:::|[|｜–—·»-]) /;
const siteSeparator = / (?:::|[|｜–—·»-]) $/;
const separator = /^\s*(?:::|[|｜–—·»:/_-])/;

/** The heading at the start of the title, if only the site's name (a word of the host) follows; otherwise the title. */
export function asHeaded(title: string | null, headings: readonly string[], url: string): string | null {
  if (title === null || !URL.canParse(url)) return title;
  const host = new URL(url).hostname;
  const isSiteBehind = (heading: string): boolean => {
    const rest = title.slice(heading.length);
    const words = rest.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const labels = host.split('.');
    return (
      separator.test(rest) && words.some((word) => labels.includes(word) || (word.length > 2 && host.includes(word)))
    );
  };
  return headings.find((heading) => isHead(heading) && title.startsWith(heading) && isSiteBehind(heading)) ?? title;
}

/** The heading, if `title` is the other part of the window title, such as the name of a site; otherwise `title`. */
export function uncut(title: string | null, facts: DeclaredFacts, url: string): string | null {
  const { window, headings, subheadings, site_name } = facts;
  if (title === null || window === null || !window.includes(title)) return title;
  if ([...headings, ...subheadings].some((heading) => heading === title)) return title;
  const host = URL.canParse(url) ? letters(new URL(url).hostname) : '';
  const isSite = (text: string): boolean =>
    (letters(text) !== '' && host.includes(letters(text))) || text === site_name;
  const isWhole = (heading: string): boolean => {
    if (title.includes(heading) || isSite(heading)) return false;
    if (window.startsWith(heading)) return window === heading || nameSeparator.test(window.slice(heading.length));
    const before = window.slice(0, -heading.length);
    const site = before.replace(siteSeparator, '');
    return window.endsWith(heading) && site !== before && isSite(site);
  };
  return headings.find(isWhole) ?? title;
}

/** Whether a text has two words, or as much text in a script without spaces. */
function isHead(heading: string): boolean {
  return /\S\s+\S/.test(heading) || /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{4}/u.test(heading);
}

/** Some templates escape text twice. */
const declared = (text: string | null | undefined): string | null =>
  fact(decodeHTMLStrict((text ?? '').slice(0, 20 * longestFact)));

/** One trimmed line of limited length; null if empty. */
export function fact(text: string | null | undefined): string | null {
  const line = (text ?? '')
    .slice(0, 20 * longestFact)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longestFact)
    .trimEnd();
  return line === '' ? null : line;
}
