/** Reads RSS, Atom and the feed links of HTML pages as a stream of tags. Tolerates malformed documents. */
import { decodeHTMLStrict } from 'entities';
import { Parser } from 'htmlparser2';
import feeds from '../../../models/feeds.json' with { type: 'json' };
import { EntryBuilder, entryTexts, escapeAttribute, escapeHtml, textOfTitle } from './entry-builder.ts';
import { type Bases, tagOf } from './episode.ts';
import { type FeedReading, itemUrl, maxEntries, oneLine } from './feed.ts';

type Attributes = Readonly<Record<string, string>>;

/** Namespaces by the start of their address. '' is the namespace of the format. */
const prefixes = Object.entries(feeds.namespaces);

const feedTexts = new Set(['title', 'link', 'language']);
const feedTypes = /^application\/(?:rss\+xml|atom\+xml|feed\+json|rdf\+xml)\b/i;
/** Characters read between two checks of the maximum number of entries. */
const sliceLength = 65_536;
/** Max depth of open elements, because an unmatched closing tag takes as many steps. */
const maxDepth = 256;

interface Element {
  name: string;
  base: string | null;
}

interface Capture {
  name: string;
  depth: number;
  attributes: Attributes;
  /** Text with one level of entities decoded. */
  text: string;
  markup: string;
  hasTags: boolean;
}

type BuildEntry<Item> = (entry: EntryBuilder, bases: Bases, lang: string | null) => Item | null;

/** `build` returns null to skip an entry. */
export function readXmlFeed<Item>(text: string, address: string, build: BuildEntry<Item>): FeedReading<Item> {
  const reader = new XmlFeedReader(address);
  for (let from = 0, to = 0; from < text.length && !reader.isFull; from = to) {
    // After the end of a tag, so that no entity is split.
    to = text.indexOf('>', from + sliceLength) + 1 || text.length;
    reader.write(text.slice(from, to));
  }
  return reader.end(build);
}

class XmlFeedReader {
  readonly #address: string;
  readonly #parser: Parser;
  readonly #stack: Element[] = [];
  readonly #declared = new Map<string, string>();
  #isOver = false;
  #format: 'rss' | 'atom' | 'html' | null = null;
  #inCdata = false;
  #capture: Capture | null = null;
  #entry: EntryBuilder | null = null;
  #entryDepth = 0;
  readonly #entries: EntryBuilder[] = [];
  #title: string | null = null;
  #home: string | null = null;
  #lang: string | null = null;
  readonly #links: { href: string; isComments: boolean }[] = [];

  constructor(address: string) {
    this.#address = address;
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.#open(name, attributes),
        onclosetag: () => this.#close(),
        ontext: (text) => this.#text(text),
        onprocessinginstruction: (_name, data) => {
          if (this.#format === null && /^!doctype\s+html\b/i.test(data)) this.#format = 'html';
        },
        oncdatastart: () => {
          this.#inCdata = true;
        },
        oncdataend: () => {
          this.#inCdata = false;
        },
      },
      { xmlMode: true, decodeEntities: false },
    );
  }

  get isFull(): boolean {
    return this.#entries.length >= maxEntries || this.#isOver;
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end<Item>(build: BuildEntry<Item>): FeedReading<Item> {
    this.#parser.end();
    if (this.#isOver && this.#format !== 'html')
      return { kind: 'none', reason: `not a feed: nested deeper than ${maxDepth} elements` };
    if (this.#format === 'html') return this.#announced();
    if (this.#format === null) return { kind: 'none', reason: 'not a feed: neither RSS, Atom nor JSON Feed' };
    const home = this.#home === null ? null : itemUrl(this.#home, [this.#address]);
    const entries = this.#entries.slice(0, maxEntries);
    const items = entries.flatMap((entry) => build(entry, [home, this.#address], this.#lang) ?? []);
    return { kind: 'feed', title: this.#title, items, leftOut: entries.length - items.length };
  }

  #announced(): FeedReading<never> {
    const sorted = this.#links.toSorted((a, b) => Number(a.isComments) - Number(b.isComments));
    const urls = sorted.flatMap(({ href }) => itemUrl(href, [this.#address]) ?? []);
    return urls.length > 0
      ? { kind: 'links', urls: [...new Set(urls)] }
      : { kind: 'none', reason: 'not a feed: an HTML page that announces none' };
  }

  #open(tag: string, raw: Attributes): void {
    if (this.#stack.length >= maxDepth) this.#isOver = true;
    if (this.#isOver) return;
    const attributes = lowerCased(raw);
    this.#declare(attributes);
    const name = this.#nameOf(tag, attributes.xmlns);
    const base = this.#baseOf(attributes['xml:base']);
    this.#stack.push({ name, base });
    // An entry inside a text shows that the text was never closed. (Feeds quoted in content are escaped.)
    if ((name === 'item' || name === 'entry') && this.#capture?.name !== 'fullitem') this.#capture = null;
    if (this.#capture !== null) {
      this.#capture.hasTags = true;
      const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeAttribute(value)}"`);
      this.#capture.markup += `<${localName(name)}${written.join('')}>`;
      return;
    }
    if (this.#format === null) this.#format = formatOf(name);
    if (this.#format === 'html') this.#openHtml(name, attributes);
    else if (this.#format !== null) this.#openFeed(name, attributes, base);
  }

  /** Only the head announces feeds. The body may be long, with unclosed tags. */
  #openHtml(name: string, { rel = '', type = '', href, title = '' }: Attributes): void {
    if (name === 'body' || name === 'xhtml:body') this.#isOver = true;
    if (name !== 'link' || href === undefined || !/\balternate\b/i.test(rel) || !feedTypes.test(type)) return;
    this.#links.push({ href, isComments: /\bcomments?\b/i.test(`${title} ${href}`) });
  }

  #openFeed(name: string, attributes: Attributes, base: string | null): void {
    if (name === 'item' || name === 'entry') {
      this.#finishEntry();
      this.#entry = new EntryBuilder(this.#format === 'atom');
      this.#entry.about = attributes['rdf:about'] ?? null;
      this.#entryDepth = this.#stack.length;
    } else if (this.#entry !== null) {
      if (this.#stack.length !== this.#entryDepth + 1) return;
      if (name === 'link' || name === 'atom:link') this.#entry.link(attributes, base);
      if (name === 'enclosure') this.#entry.episode.enclosure(attributes.url, attributes.type, base);
      if (name === 'podcast:transcript') this.#entry.episode.transcript(attributes, base);
      if (name === 'podcast:chapters') this.#entry.episode.chapters(attributes, base);
      if (name === 'content' && attributes.src !== undefined) this.#entry.source = { href: attributes.src, base };
      if (entryTexts.has(name)) this.#startCapture(name, attributes);
    } else if (feedTexts.has(name) && this.#isOfFeed()) {
      const { rel = 'alternate', href } = attributes;
      if (name === 'link' && href !== undefined && rel === 'alternate') this.#home ??= href;
      this.#startCapture(name, attributes);
    }
  }

  /** Whether a title or link belongs to the feed, not to an image, text input or author. */
  #isOfFeed(): boolean {
    const parent = this.#stack.at(-2)?.name;
    return parent === 'channel' || parent === 'feed' || parent === 'rss';
  }

  #startCapture(name: string, attributes: Attributes): void {
    this.#capture = { name, depth: this.#stack.length, attributes, text: '', markup: '', hasTags: false };
  }

  #text(raw: string): void {
    if (this.#capture === null) return;
    const text = this.#inCdata ? raw : decodeHTMLStrict(raw);
    this.#capture.text += text;
    this.#capture.markup += escapeHtml(text);
  }

  #close(): void {
    if (this.#isOver) return;
    const capture = this.#capture;
    if (capture !== null && this.#stack.length > capture.depth) {
      capture.markup += `</${localName(this.#stack.at(-1)?.name ?? '')}>`;
    } else if (capture !== null) {
      this.#capture = null;
      this.#keep(capture);
    }
    if (this.#entry !== null && this.#stack.length === this.#entryDepth) this.#finishEntry();
    this.#stack.pop();
  }

  #keep({ name, attributes, text, markup, hasTags }: Capture): void {
    if (this.#entry !== null)
      this.#entry.text(name, attributes, { text, markup, hasTags }, this.#stack.at(-1)?.base ?? null);
    else if (name === 'title') this.#title ??= oneLine(textOfTitle(text));
    else if (name === 'language') this.#lang ??= tagOf(text);
    else if (text.trim() !== '') this.#home ??= text.trim();
  }

  #finishEntry(): void {
    if (this.#entry !== null) this.#entries.push(this.#entry);
    this.#entry = null;
  }

  #declare(attributes: Attributes): void {
    for (const key in attributes) {
      if (key.startsWith('xmlns:')) this.#declared.set(key.slice(6), usualPrefix(attributes[key]) ?? key.slice(6));
    }
  }

  /** `dc:date` with any prefix; elements of the document's own format without one. */
  #nameOf(tag: string, ownNamespace: string | undefined): string {
    const colon = tag.indexOf(':');
    const local = tag.slice(colon + 1).toLowerCase();
    const written = tag.slice(0, Math.max(0, colon)).toLowerCase();
    const prefix =
      colon > 0
        ? (this.#declared.get(written) ?? written)
        : ownNamespace !== undefined && usualPrefix(ownNamespace) === 'xhtml'
          ? 'xhtml'
          : '';
    const isOwn =
      prefix === '' || (prefix === 'atom' && this.#format !== 'rss') || (prefix === 'rdf' && local === 'rdf');
    return isOwn ? local : `${prefix}:${local}`;
  }

  #baseOf(given: string | undefined): string | null {
    const outer = this.#stack.at(-1)?.base ?? null;
    if (given === undefined) return outer;
    return URL.canParse(given, outer ?? this.#address) ? new URL(given, outer ?? this.#address).href : outer;
  }
}

function formatOf(name: string): 'rss' | 'atom' | 'html' | null {
  switch (name) {
    case 'rss':
    case 'rdf':
    case 'channel':
      return 'rss';
    case 'feed':
    case 'entry':
      return 'atom';
    case 'html':
    case 'xhtml:html':
    case 'meta':
    case 'title':
    case 'head':
    case 'body':
      return 'html';
    default:
      return null;
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function lowerCased(attributes: Attributes): Attributes {
  const result: Record<string, string> = Object.create(null);
  for (const key in attributes) result[key.toLowerCase()] = decodeHTMLStrict(attributes[key]);
  return result;
}

function usualPrefix(namespace: string): string | undefined {
  const lower = namespace.trim().toLowerCase();
  return prefixes.find(([start]) => lower.startsWith(start))?.[1];
}
