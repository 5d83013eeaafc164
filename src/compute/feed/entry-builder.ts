/** Gathers what one entry of a feed says, in whatever order, and makes an item of it. */
import { type Bases, type Episode, EpisodeParts } from './episode.ts';
import { cutContent, type FeedItem, itemUrl, maxContentLength, oneLine } from './feed.ts';
import { feedDate } from './feed-date.ts';
import { escapeHtml, textOfTitle } from './feed-html.ts';

interface Link {
  href: string;
  base: string | null;
}

interface Captured {
  text: string;
  markup: string;
  hasTags: boolean;
}

/** The best known date first. */
const dateNames = [
  'pubdate',
  'published',
  'issued',
  'dcterms:issued',
  'dc:date',
  'created',
  'dcterms:created',
  'updated',
  'modified',
  'dcterms:modified',
];
const contentNames = new Set([
  'description',
  'content',
  'content:encoded',
  'summary',
  'xhtml:body',
  'body',
  'fullitem',
]);
const authorNames = ['itunes:author', 'dc:creator'];
const titleNames = ['title', 'dc:title'];
/** Names of the elements of an entry whose text is wanted. */
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
  /** `rdf:about`. */
  about: string | null = null;
  /** `src` of Atom's content. */
  source: Link | null = null;
  readonly episode = new EpisodeParts();
  #title: string | null = null;
  #guid: string | null = null;
  #content: string | null = null;
  /** By how well they name the page: 0 best. */
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

  /** Null where the entry has no address. `bases`: what relative addresses are meant from, where nothing nearer says. */
  build(bases: Bases): FeedItem | null {
    const url = this.#address(bases);
    return url === null ? null : { url, ...this.#told() };
  }

  /** Null where the entry has no recording. */
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

/** Content is HTML unless it says that it is text. */
function htmlOf(attributes: Readonly<Record<string, string>>, captured: Captured): string {
  if (captured.hasTags) return captured.markup;
  const text = unpacked(attributes, captured.text);
  return /^(?:text|text\/plain)$/i.test(attributes.type ?? '') ? escapeHtml(text) : text;
}

/** Atom 0.3 allows base64. */
function unpacked({ mode = '' }: Readonly<Record<string, string>>, text: string): string {
  if (mode.toLowerCase() !== 'base64' || text.length > 2 * maxContentLength) return text;
  return Buffer.from(text, 'base64').toString();
}
