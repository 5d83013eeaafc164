/** Finds nearly equal pages. It is strict, as versions of a manual share most text (docs/models.md, "Duplicates"). */
import { foldTitle } from '../../domain/normalize-text.ts';
import { ownTitle } from '../../domain/page.ts';
import { registeredName } from '../web/registered-names.ts';
import { foldPunctuation } from './exact-query.ts';

/** MinHash in one permutation: one byte of the smallest hash per bin; 0 for an empty bin. */
const bins = 128;
/** Length of a shingle: adjacent words that are compared together. */
const shingle = 5;
/** Min words of a compared text; shorter texts are not distinctive enough. Characters in unspaced scripts. */
const leastWords = 50;
/** Min share of common shingles: same address, different sites, same site. One word of 100 changes it by .1. */
const least = { address: 0.8, elsewhere: 0.9, site: 0.95 } as const;
/** Max pairs compared per search: 13 ms. Further pages are not merged. */
const maxCompared = 100_000;

export interface TextSketch {
  bins: Uint8Array;
  words: number;
}

export interface ComparedPage extends TextSketch {
  canonical_url: string;
  title: string | null;
  content_hash: string | null;
}

/** Sketch of a text's words, given as bytes. */
export function sketchOf(run: Uint8Array): TextSketch {
  const lowest = new Uint32Array(bins).fill(0xffff_ffff);
  const width = Math.min(shingle, run.length);
  for (let at = 0; at + width <= run.length && width > 0; at++) {
    let hash = width;
    for (let i = at; i < at + width; i++) hash = Math.imul(hash ^ run[i], 0x9e37_79b1) ^ (hash >>> 15);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
    hash = (hash ^ (hash >>> 16)) >>> 0;
    const bin = hash % bins;
    if (hash < lowest[bin]) lowest[bin] = hash;
  }
  const bytes = Uint8Array.from(lowest, (hash) => (hash === 0xffff_ffff ? 0 : 1 + (Math.floor(hash / bins) % 255)));
  return { bins: bytes, words: run.length };
}

/** Estimated share of common shingles, 0 to 1, with a standard deviation of .02 at .95. */
function similarity(a: Uint8Array, b: Uint8Array): number {
  let both = 0;
  let same = 0;
  for (let bin = 0; bin < bins; bin++) {
    if (a[bin] === 0 && b[bin] === 0) continue;
    both++;
    if (a[bin] === b[bin]) same++;
    // A shortcut: most pairs are not alike.
    else if (both - same > bins / 4) return 0;
  }
  return both === 0 ? 1 : same / both;
}

/** Pages best first, each with the numbers of its later copies. `factsOf`: null excludes a page from comparison. */
export function collapseDuplicates<Ranked extends { page_no: number }>(
  pages: readonly Ranked[],
  factsOf: (page: Ranked) => ComparedPage | null,
): (Ranked & { duplicates: number[] })[] {
  const shown: (Ranked & { duplicates: number[] })[] = [];
  const compared: { facts: ComparedPage; duplicates: number[] }[] = [];
  let left = maxCompared;
  for (const page of pages) {
    const facts = factsOf(page);
    const first = facts === null ? undefined : compared.find((other) => left-- > 0 && areSame(other.facts, facts));
    if (first !== undefined) {
      first.duplicates.push(page.page_no);
      continue;
    }
    const duplicates: number[] = [];
    shown.push({ ...page, duplicates });
    if (facts !== null) compared.push({ facts, duplicates });
  }
  return shown;
}

function areSame(a: ComparedPage, b: ComparedPage): boolean {
  const share = similarity(a.bins, b.bins);
  if (share < least.address) return false;
  const [formA, formB] = [a, b].map(({ canonical_url }) => addressForm(canonical_url));
  if (formA.whole === formB.whole) return true;
  const isElsewhere = formA.site !== formB.site;
  const [titleA, titleB] = [a, b].map(({ title, canonical_url }) => ownTitle(title, canonical_url));
  if (Math.min(a.words, b.words) < leastWords || !areOneTitle(titleA, titleB, isElsewhere)) return false;
  if (!agree(a, b, versionsOf)) return false;
  if (a.content_hash !== null && a.content_hash === b.content_hash) return true;
  if (isElsewhere) return share >= (titleA === null || titleB === null ? least.site : least.elsewhere);
  return share >= least.site && titleA === titleB && agree(a, b, numbersOf);
}

/** Whether titles are equal except a part at one end (the site's name), on two sites one part each. Null: any title. */
function areOneTitle(a: string | null, b: string | null, isElsewhere: boolean): boolean {
  if (a === null || b === null) return true;
  if (numbersOf(a).join(' ') !== numbersOf(b).join(' ')) return false;
  const [ofA, ofB] = [a, b].map((title) => foldTitle(title).split(partsOfTitle).map(foldPunctuation));
  const is = (some: string[], others: string[]) => some.length > 0 && some.join(' ') === others.join(' ');
  const ends = (parts: string[]) => [parts, parts.slice(0, -1), parts.slice(1)];
  return (
    ends(ofA).some((part) => is(part, ofB)) ||
    ends(ofB).some((part) => is(part, ofA)) ||
    (isElsewhere && is(ofA.slice(0, -1), ofB.slice(0, -1)))
  );
}

const partsOfTitle = /(?<!\s)(?:\s+[|–—·•»«:-]+\s+|\s*[|»«·•]\s*)|:\s+/u;

/** Whether addresses and titles of both pages have equal readings, or one of them has none. */
function agree(a: ComparedPage, b: ComparedPage, read: (text: string) => string[]): boolean {
  const [ofA, ofB] = [a, b].map(({ canonical_url, title }) => [canonical_url, title ?? ''].map(read));
  return ofA.every((found, at) => {
    const other = ofB[at];
    return found.length === 0 || other.length === 0 || found.join(' ') === other.join(' ');
  });
}

/** `1.2`, `v3`; not a day. */
const version = /(?<![\w.])v?\d+(?:\.\d+)+(?!\w)|(?<![a-z])v\d+(?!\w)/gi;
const versionsOf = (text: string): string[] => text.match(version) ?? [];
const numbersOf = (text: string): string[] => text.match(/\p{N}+/gu) ?? [];

/** Words that select a view of a page in its address, and values that enable it. */
const view = /^(?:amp|print|printable|printer-friendly|print-view|printview|m|mobile|touch|www)$/i;
const isOn = /^(?:|1|on|yes|true)$/i;

/** `whole` is equal for the views of one page. */
function addressForm(address: string): { whole: string; site: string } {
  const { host, hostname, pathname, search, hash } = new URL(address);
  const names = host.split('.');
  while (names.length > 2 && view.test(names[0])) names.shift();
  const path = pathname
    .replace(/\/(?:index|default)\.[a-z]{3,5}$/i, '')
    .replace(/\.(?:amp|print)(?=\.html?$|\/?$)/i, '')
    .split('/')
    .filter((part) => part !== '' && !view.test(part));
  const query = search
    .slice(1)
    .split('&')
    .filter((each) => {
      const [name, value = ''] = each.split('=');
      return each !== '' && !view.test(value) && !(view.test(name) && isOn.test(value));
    });
  return { whole: [names.join('.'), ...path, query.join('&') + hash].join('/'), site: registeredName(hostname) };
}
