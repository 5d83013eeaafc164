/** A page's facts as searchable text in addition to title and body: author, site, address, tags, notes. */

import { domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import { normalizeText } from '../../domain/normalize-text.ts';
import type { Page } from '../../domain/page.ts';
import { unescaped } from '../web/unescaped.ts';
import { partsIn } from './scripts.ts';

const authorKeys = ['author', 'authors'];
/** Keys of `metadata` whose values are texts, objects with a `name` (JSON-LD persons), or lists of these. */
const factKeys = [
  ...authorKeys,
  ...['site_name', 'feed_title'],
  ...['tags', 'folder', 'note', 'highlights', 'description'],
];
/** Max UTF-16 units per fact and in total; longer values are texts of their own. */
const maxFact = 1000;
const maxFacts = 4000;
const emptyWords = /^(?:index|default|html?|php|aspx?|jsp|amp|\d+)$/i;

/** One line per fact; at most 4,000 UTF-16 units. Errors: none. */
export function factsText({
  canonical_url,
  domain,
  title,
  metadata,
}: Pick<Page, 'canonical_url' | 'domain' | 'title' | 'metadata'>): string {
  const known = factKeys.flatMap((key) => textsOf(metadata?.[key]));
  const address = title === null ? pathWords(canonical_url).join(' ') : '';
  return [hostWords(domain), address, ...known]
    .filter((fact) => fact.trim() !== '')
    .map((fact) => fact.slice(0, maxFact))
    .join('\n')
    .slice(0, maxFacts)
    .toWellFormed();
}

/** One line per name; at most 1,000 UTF-16 units. Errors: none. */
export function authorText({ metadata }: Pick<Page, 'metadata'>): string {
  const names = authorKeys.flatMap((key) => textsOf(metadata?.[key]));
  return names.join('\n').slice(0, maxFact).toWellFormed();
}

/** Reads a text, an object with a `name`, a highlight with its `quote`, or a list of these. */
export function textsOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values
    .map((each) => (isObject(each) ? (each.name ?? each.quote) : each))
    .filter((each) => typeof each === 'string');
}

function isObject(value: unknown): value is { name?: unknown; quote?: unknown } {
  return typeof value === 'object' && value !== null;
}

/** Names in a host, without `www` and public suffix. A host without other names stays whole. */
export function hostWords(domain: string): string {
  const host = domainToUnicode(domain) || domain;
  const { domainWithoutSuffix, subdomain, isIp } = parse(host);
  if (isIp === true || !domainWithoutSuffix) return host;
  const labels = [domainWithoutSuffix, ...(subdomain ?? '').split('.')];
  return labels
    .flatMap((label) => label.split(/[-_]/))
    .filter((word) => word !== '' && word !== 'www')
    .join(' ');
}

/** Max folders of an address that can be searched; longer prefixes are rarely pasted. */
const mostFolders = 8;
const longestBeginning = 200;

/** Prefixes of an address by folder, shortest first: `host`, `host/a`; without scheme, `www.`, query, last slash. */
export function addressBeginnings(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { host, pathname } = new URL(url);
  const folders = unescaped(pathname)
    .toLowerCase()
    .split('/')
    .filter((folder) => folder !== '');
  const beginnings = [host.replace(/^www\./, '')];
  for (const folder of folders.slice(0, mostFolders)) beginnings.push(`${beginnings.at(-1)}/${folder}`);
  return beginnings.filter(({ length }) => length > 0 && length <= longestBeginning).map((each) => each.toWellFormed());
}

const mostPathWords = 32;

/** Lower-case words of an address path, as `partsIn`; few, each once. They often repeat the title. */
export function pathWords(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const path = normalizeText(unescaped(new URL(url).pathname), 'NFC').toLowerCase();
  const words = (path.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).filter((word) => !emptyWords.test(word));
  const parts = [...new Set(words)].slice(0, mostPathWords).flatMap(partsIn);
  return [...new Set(parts)].slice(0, 4 * mostPathWords);
}
