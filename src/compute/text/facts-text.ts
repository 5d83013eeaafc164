/**
 * What is known of a page beside its title and its text, as one text whose words find the page: who wrote it, where it is from, how
 * somebody tagged it or what they noted. A page without a title has the words of its address instead. Called where pages are
 * prepared for the index, and where one is brought back to it; the names in a host also where a query is one.
 */
import { domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import type { Page } from '../../domain/page.ts';

const authorKeys = ['author', 'authors'];
/** Keys of `metadata` that hold such words, as texts, things with a `name` (as JSON-LD has persons), or lists of these. */
const factKeys = [
  ...authorKeys,
  ...['site_name', 'feed_title'],
  ...['tags', 'folder', 'note', 'highlights', 'description'],
];
/** What is longer is a text by itself; UTF-16 units of each fact, and of all of them together. */
const maxFact = 1000;
const maxFacts = 4000;
/** Words of an address that are on every second page. */
const emptyWords = /^(?:index|default|html?|php|aspx?|jsp|amp|\d+)$/i;

/** Shape: one line a fact; at most 4,000 UTF-16 units. Errors: none. */
export function factsText({
  canonical_url,
  domain,
  title,
  metadata,
}: Pick<Page, 'canonical_url' | 'domain' | 'title' | 'metadata'>): string {
  const known = factKeys.flatMap((key) => textsOf(metadata?.[key]));
  const address = title === null ? pathWords(canonical_url) : '';
  return [hostWords(domain), address, ...known]
    .filter((fact) => fact.trim() !== '')
    .map((fact) => fact.slice(0, maxFact))
    .join('\n')
    .slice(0, maxFacts)
    .toWellFormed();
}

/** Who wrote a page, as far as that is known: one line a name; at most 1,000 UTF-16 units. Errors: none. */
export function authorText({ metadata }: Pick<Page, 'metadata'>): string {
  const names = authorKeys.flatMap((key) => textsOf(metadata?.[key]));
  return names.join('\n').slice(0, maxFact).toWellFormed();
}

/** The texts of a fact: a text, a thing with a `name`, or a list of these. */
export function textsOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.map((each) => (isNamed(each) ? each.name : each)).filter((each) => typeof each === 'string');
}

function isNamed(value: unknown): value is { name: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value;
}

/** The names in a host: `www` and what everybody may register under are none. A host without any other is its own name. */
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

/** The words of a URL's path: its slug is often the title. */
function pathWords(url: string): string {
  const { pathname } = new URL(url);
  const words = decoded(pathname).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.filter((word) => !emptyWords.test(word)).join(' ');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // not UTF-8: what can be read of it
  }
}
