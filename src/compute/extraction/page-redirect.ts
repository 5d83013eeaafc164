/** Detects pages that only redirect, by the `Refresh` header or element. The fetch job follows them with all checks. */
import { addressInHeader } from '../web/canonical-url.ts';
import { type DomNode, elementNode, walkTree } from './dom-tree.ts';
import { parsePage } from './parse-page.ts';
import type { Wall } from './recognize-wall.ts';

/**
 * Max seconds of a redirect, and max characters of a page that redirects. People read 250 characters in 10 s; twice as
 * many allow for two languages. Pages for reading that reload do so after minutes.
 */
const maxDelayS = 10;
const maxOwnText = 500;
/** Max characters: a page may contain an address of megabytes, which would all be sent. */
const maxAddressLength = 8192;
/** Elements whose content browsers treat as text or do not show. */
const inert = new Set('iframe noembed noframes template textarea xmp'.split(' '));

export interface ReadPage {
  /** '' without markup: then only the header counts. */
  html: string;
  text: string;
  /** Absolute address of the page. */
  address: string;
  wall: Wall | null;
  /** The header as Node returns it. */
  refresh?: string | undefined;
}

interface Refresh {
  delayS: number;
  target: URL;
}

/**
 * The absolute http or https address that a page redirects to, or null. The header takes precedence over the page.
 * Null for a redirect to the same page, for walls, whose target is another page, and for an error that redirects to
 * the front page. Other errors may mean "This page has been moved".
 */
export function redirectOf({ html, text, address, wall, refresh: header }: ReadPage): string | null {
  if (text.length > maxOwnText) return null;
  if (wall === 'challenge' || wall === 'login_wall' || wall === 'cookie_wall') return null;
  // Relative to the page's address: the document's base comes after the header.
  const ofHeader = header === undefined ? null : readRefresh(addressInHeader(header), address, address);
  const refresh = ofHeader ?? refreshIn(html, text, address);
  if (refresh === null || refresh.delayS > maxDelayS) return null;
  const { target } = refresh;
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return null;
  if (target.href.length > maxAddressLength) return null;
  const own = new URL(address);
  if (wall === 'error_page' && target.origin === own.origin && target.pathname === '/') return null;
  return asFetched(target) === asFetched(own) ? null : target.href;
}

/** The first valid refresh. If the page has no text, `noscript` counts, too. */
function refreshIn(html: string, text: string, address: string): Refresh | null {
  if (!/http-equiv/i.test(html)) return null;
  const { root } = parsePage(html, address);
  const contents: { content: string; isInNoscript: boolean }[] = [];
  let base: string | undefined;
  let noscripts = 0;
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode || inert.has(node.localName)) return false;
      if (node.localName === 'noscript') noscripts++;
      if (node.localName === 'base') base ??= node.getAttribute('href') ?? undefined;
      if (isRefresh(node)) contents.push({ content: node.getAttribute('content') ?? '', isInNoscript: noscripts > 0 });
      return true;
    },
    (node) => {
      if (node.localName === 'noscript') noscripts--;
    },
  );
  const from = baseOf(base, address);
  const first = (isInNoscript: boolean) => {
    for (const each of contents) {
      const refresh = each.isInNoscript === isInNoscript ? readRefresh(each.content, from, address) : null;
      if (refresh !== null) return refresh;
    }
    return null;
  };
  return first(false) ?? (text === '' ? first(true) : null);
}

function isRefresh(node: DomNode): boolean {
  return node.localName === 'meta' && node.getAttribute('http-equiv')?.toLowerCase() === 'refresh';
}

/** Source: HTML standard, "set the frozen base URL". */
function baseOf(href: string | undefined, address: string): string {
  if (href === undefined || !URL.canParse(href, address)) return address;
  const base = new URL(href, address);
  return base.protocol === 'data:' || base.protocol === 'javascript:' ? address : base.href;
}

/** Null if invalid or `javascript:`. Default target: the page. HTML standard, "shared declarative refresh steps". */
export function readRefresh(content: string, base: string, address: string): Refresh | null {
  const [, time, rest] =
    /^[\t\n\f\r ]*([\d.]+)(?=[;,\t\n\f\r ]|$)[\t\n\f\r ]*[;,]?[\t\n\f\r ]*([\s\S]*)$/.exec(content) ?? [];
  if (time === undefined || rest === undefined) return null;
  const delayS = Number.parseInt(time, 10) || 0;
  if (rest === '') return { delayS, target: new URL(address) };
  const said = rest.replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, '');
  const quote = said.startsWith('"') || said.startsWith("'") ? said.charAt(0) : null;
  const text = quote === null ? said : (said.slice(1).split(quote, 1)[0] ?? '');
  if (!URL.canParse(text, base)) return null;
  const target = new URL(text, base);
  return target.protocol === 'javascript:' ? null : { delayS, target };
}

function asFetched(url: URL): string {
  const bare = new URL(url);
  bare.hash = '';
  bare.username = '';
  bare.password = '';
  return bare.href;
}
