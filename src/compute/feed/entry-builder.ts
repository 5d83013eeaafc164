/** Collects a feed entry's facts in any order and builds an item. */

import { decodeHTMLStrict } from 'entities';
import { Parser } from 'htmlparser2';
import { type Bases, type Episode, EpisodeParts } from './episode.ts';
import { cutContent, type FeedItem, itemUrl, maxContentLength, oneLine } from './feed.ts';
import { feedDate } from './feed-date.ts';

interface Link {
  href: string;
  base: string | null;
}

interface Captured {
  text: string;
  markup: string;
  hasTags: boolean;
}

/** Names of dates, best first. */
const dateNames =
  'pubdate published issued dcterms:issued dc:date created dcterms:created updated modified dcterms:modified'.split(
    ' ',
  );
const contentNames = new Set('description content content:encoded summary xhtml:body body fullitem'.split(' '));
const authorNames = ['itunes:author', 'dc:creator'];
const titleNames = ['title', 'dc:title'];
export const entryTexts: ReadonlySet<string> = new Set([
  ...titleNames,
  ...['feedburner:origlink', 'link', 'guid', 'id'],
  ...['itunes:duration', ...authorNames],
  ...contentNames,
  ...dateNames,
]);
const webAddress = /^\s*https?:\/\//i;

export class EntryBuilder {
  readonly #isAtom: boolean;
  about: string | null = null;
  source: Link | null = null;
  readonly episode = new EpisodeParts();
  #title: string | null = null;
  #guid: string | null = null;
  #content: string | null = null;
  readonly #links: (Link | undefined)[] = [];
  readonly #dates = new Map<string, string>();

  constructor(isAtom: boolean) {
    this.#isAtom = isAtom;
  }

  link({ href, rel = 'alternate', type }: Readonly<Record<string, string>>, base: string | null): void {
    if (rel.toLowerCase() === 'enclosure') this.episode.enclosure(href, type, base);
    if (href === undefined || rel.toLowerCase() !== 'alternate') return;
    this.#offer(type === undefined || /html/i.test(type) ? 1 : 2, { href, base });
  }

  text(name: string, attributes: Readonly<Record<string, string>>, captured: Captured, base: string | null): void {
    const text = captured.text.trim();
    if ((name === 'guid' || name === 'id') && text !== '') this.#guid ??= text;
    if (titleNames.includes(name)) this.#title ??= titleOf(attributes, captured, this.#isAtom);
    else if (name === 'feedburner:origlink') this.#offer(0, { href: text, base });
    else if (name === 'link') this.#offer(1, { href: text, base });
    else if (name === 'guid' && attributes.ispermalink?.toLowerCase() !== 'false' && webAddress.test(text))
      this.#offer(4, { href: text, base });
    else if (name === 'id' && webAddress.test(text)) this.#offer(4, { href: text, base });
    else if (name === 'itunes:duration') this.episode.duration(text);
    else if (authorNames.includes(name)) this.episode.by(text);
    else if (contentNames.has(name)) this.#offerContent(attributes, captured);
    else if (dateNames.includes(name) && !this.#dates.has(name)) this.#dates.set(name, text);
  }

  /** Null without an address (a link, an identifier that is a URL, or a file). `bases`: for relative addresses. */
  build(bases: Bases): FeedItem | null {
    const guid = this.#guid !== null && webAddress.test(this.#guid) ? itemUrl(this.#guid, []) : null;
    const url = this.#address(bases) ?? guid ?? this.episode.file(bases);
    return url === null ? null : { url, ...this.#told() };
  }

  buildEpisode(bases: Bases, lang: string | null): Episode | null {
    const parts = this.episode.build(bases);
    return parts === null ? null : { ...parts, ...this.#told(), guid: this.#guid, lang, link: this.#address(bases) };
  }

  #address(bases: Bases): string | null {
    const about = this.about !== null && webAddress.test(this.about) ? { href: this.about, base: null } : undefined;
    for (const link of [...this.#links, this.source, about]) {
      const url = link == null ? null : itemUrl(link.href, [link.base, ...bases]);
      if (url !== null) return url;
    }
    return null;
  }

  #told() {
    const date = dateNames.map((name) => feedDate(this.#dates.get(name) ?? '')).find((each) => each !== null);
    return { title: this.#title, published_at: date ?? null, content: this.#content };
  }

  #offer(rank: number, link: Link): void {
    if (link.href !== '') this.#links[rank] ??= link;
  }

  #offerContent(attributes: Readonly<Record<string, string>>, captured: Captured): void {
    const content = cutContent(htmlOf(attributes, captured));
    if (content !== null && content.length > (this.#content?.length ?? 0)) this.#content = content;
  }
}

function titleOf(attributes: Readonly<Record<string, string>>, captured: Captured, isAtom: boolean): string | null {
  const text = unpacked(attributes, captured.text);
  const isPlain = isAtom && /^(?:text|text\/plain|xhtml)?$/i.test(attributes.type ?? '');
  return oneLine(isPlain ? text : textOfTitle(text));
}

/** HTML unless declared as text. */
function htmlOf(attributes: Readonly<Record<string, string>>, captured: Captured): string {
  if (captured.hasTags) return captured.markup;
  const text = unpacked(attributes, captured.text);
  return /^(?:text|text\/plain)$/i.test(attributes.type ?? '') ? escapeHtml(text) : text;
}

function unpacked({ mode = '' }: Readonly<Record<string, string>>, text: string): string {
  if (mode.toLowerCase() !== 'base64' || text.length > 2 * maxContentLength) return text;
  return Buffer.from(text, 'base64').toString();
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function escapeAttribute(text: string): string {
  return escapeHtml(text).replace(/"/g, '&quot;');
}

/** Max characters, as unclosed tags cost the parser quadratic time. */
const maxTitleMarkup = 65_536;

/** Titles may contain markup, escaped once or twice. A `<` that starts no tag is kept. */
export function textOfTitle(title: string): string {
  if (!/[<&]/.test(title)) return title;
  if (!/<\/?[a-z!]/i.test(title)) return decodeHTMLStrict(title);
  let text = '';
  const parser = new Parser({ ontext: (part) => (text += part) }, { decodeEntities: true });
  parser.write(title.slice(0, maxTitleMarkup));
  parser.end();
  return text;
}
