/**
 * Tells where a page redirects to by the header `Refresh` or `<meta http-equiv="refresh">`, where it is there for nothing else. Decides
 * over a page that was read; who goes on, with the checks of any redirect, is the fetch job. Called on an extraction thread.
 */
import { addressInHeader } from '../web/header-address.ts';
import { type DomNode, elementNode, walkTree } from './dom-tree.ts';
import { parsePage } from './parse-page.ts';
import type { Wall } from './recognize-wall.ts';

/**
 * Longest delay, seconds, and longest text, characters, of a page that only redirects. People read about 25 characters a second, so
 * what goes on after 10 s means nobody to read more than 250; twice that leaves room for a notice in two languages. Pages that
 * are read and load themselves anew do so after minutes.
 */
const maxDelayS = 10;
const maxOwnText = 500;
/** Longest address that is gone to, characters: a page may hold megabytes, and all of it would be sent. */
const maxAddressLength = 8192;
/** What browsers take for text, or do not show, although the parser makes elements of it. */
const inert = new Set('iframe noembed noframes template textarea xmp'.split(' '));

export interface ReadPage {
  /** '' for what is no markup: then only the header counts. */
  html: string;
  /** Readable text. */
  text: string;
  /** Absolute, where the page came from. */
  address: string;
  /** What the page would be taken for if it redirected nowhere. */
  wall: Wall | null;
  /** The header `Refresh`, as Node gives it. */
  refresh?: string | undefined;
}

interface Refresh {
  delayS: number;
  target: URL;
}

/**
 * The address that a page redirects to, absolute, http or https; null for a page that stays.
 * The header goes before the elements. A refresh in `noscript` counts where the page has no text, and no other refresh. One to the page's own address, whatever the fragment, is none.
 * What stands in front of a page goes first, since where that leads is not the page; so does an error on the way to the front page
 * of its site. An error elsewhere may be "This page has been moved".
 */
export function redirectOf({ html, text, address, wall, refresh: header }: ReadPage): string | null {
  if (text.length > maxOwnText) return null;
  if (wall === 'challenge' || wall === 'login_wall' || wall === 'cookie_wall') return null;
  // Its address is relative to the page's own: the document with its base begins after the header.
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

/** The first valid refresh of the document; of a page without text one in a `noscript`, too. */
function refreshIn(html: string, text: string, address: string): Refresh | null {
  if (!/http-equiv/i.test(html)) return null;
  const root = parsePage(html, address).documentElement;
  if (root === null) return null;
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

/**
 * Read the `content` of a refresh. Without an address it is one to the page itself.
 * Errors: null for what is no refresh, for no address and for one of `javascript:`.
 * Source: HTML standard, "shared declarative refresh steps". Linear in the length.
 */
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

/** No fragment is sent, and no name or password that a redirect brings. */
function asFetched(url: URL): string {
  const bare = new URL(url);
  bare.hash = '';
  bare.username = '';
  bare.password = '';
  return bare.href;
}
