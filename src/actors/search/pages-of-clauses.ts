/** Applies a query's clauses: finds the matching pages (one matching passage suffices) and their allowed passages. */

import { addBit, type Bitmap, bitmapOf, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { firstAtLeast } from '../../compute/structures/sorted-search.ts';
import { anyPage } from '../../domain/page.ts';
import { type QueryClause, type QueryClauses, type WordClause, wordClausesIn } from '../../domain/query-clause.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { AllowedLabels, Catalog } from '../indexes/catalog.ts';
import type { CandidatePages } from '../system/service.ts';

const noLabels = new Uint32Array(0);

/**
 * For passages that pass the filters. `allowed` null: all. `quoting`: passages with any phrase, on pages that may have
 * every phrase; null without phrases. `phrases`: labels of each. Errors: of the threads; the signal's reason.
 */
export async function matchClauses(
  { catalog, searchers }: { catalog: Catalog; searchers: Pick<Searchers, 'locate'> },
  { phrases, clauses: { must, mustNot } }: { phrases: readonly string[]; clauses: QueryClauses },
  filtered: AllowedLabels | null,
  signal: AbortSignal | undefined,
) {
  const quoted = phrases.map((text): WordClause => ({ in: 'phrase', text }));
  const sites = must.filter((each) => each.in === 'site');
  const others = must.filter((each) => each.in !== 'site' && each.in !== 'phrase');
  const wanted: QueryClause[] = sites.length === 0 ? others : [...others, { in: 'any', of: sites }];
  const ofWords = [...quoted, ...wordClausesIn([...wanted, ...mustNot])];
  if (ofWords.length === 0 && must.length + mustNot.length === 0)
    return { allowed: filtered, quoting: null, phrases: [] };
  const labels = ofWords.length === 0 ? [] : await searchers.locate(ofWords, signal);
  const labelsOf = new Map(ofWords.map((clause, at) => [clause, labels[at]]));
  const ofPhrases = labels.slice(0, phrases.length);
  const isRequired = must.some((each) => each.in === 'phrase');

  const pagesOf = (labels: Uint32Array): Bitmap => {
    const pages = createBitmap(catalog.pageEnd);
    for (const label of labels) addBit(pages, catalog.pageOf(label));
    return pages;
  };
  const pagesWith = (clause: QueryClause): Bitmap => {
    switch (clause.in) {
      case 'any':
        return inSome(clause.of.map(pagesWith), catalog.pageEnd);
      case 'not':
        return pagesWith(clause.of).map((word) => ~word);
      case 'after':
      case 'before':
        return catalog.pagesPassing({ ...anyPage, [clause.in]: clause.at });
      case 'site':
        return catalog.pagesPassing({ ...anyPage, domain: clause.text });
      case 'type':
      case 'tag':
      case 'folder':
      case 'source':
      case 'is':
        return catalog.pagesPassing({ ...anyPage, [clause.in]: clause.text });
      default:
        return pagesOf(labelsOf.get(clause) ?? noLabels);
    }
  };

  const quotingPages = inAll(ofPhrases.map(pagesOf));
  const pages = inAll([...wanted.map(pagesWith), ...(isRequired && quotingPages !== null ? [quotingPages] : [])]);
  const unwanted = inSome(mustNot.map(pagesWith), catalog.pageEnd);
  const passages = wanted.flatMap((each) =>
    each.in === 'language' ? [bitmapOf(labelsOf.get(each) ?? noLabels, catalog.labelEnd)] : [],
  );
  const ofEachPhrase = ofPhrases.map((labels) => bitmapOf(labels, catalog.labelEnd));
  const ofSomePhrase = inSome(ofEachPhrase, catalog.labelEnd);
  if (isRequired) passages.push(ofSomePhrase);
  const passes = (label: number): boolean => {
    const page = catalog.pageOf(label);
    if (page === 0 || (pages !== null && !hasBit(pages, page)) || hasBit(unwanted, page)) return false;
    return passages.every((set) => hasBit(set, label));
  };
  const isNarrowed = pages !== null || mustNot.length > 0;
  const allowed = isNarrowed ? narrowed(filtered?.labels ?? catalog.live(), catalog.labelEnd, passes) : filtered;
  if (quotingPages === null) return { allowed, quoting: null, phrases: ofPhrases };
  const mayQuote = (label: number) =>
    hasBit(quotingPages, catalog.pageOf(label)) && (allowed === null || hasBit(allowed.labels, label));
  const quoting = narrowed(ofSomePhrase, catalog.labelEnd, mayQuote).labels;
  return { allowed, quoting, phrases: ofPhrases };
}

/** Candidate pages that may have every phrase, with their passages. */
export function quotingPages(
  catalog: Pick<Catalog, 'labelsOf'>,
  phrases: readonly Uint32Array[],
  candidates: Iterable<number>,
): CandidatePages['quoting'] {
  const found = new Map<number, Uint32Array[]>();
  if (phrases.length === 0) return found;
  for (const page of new Set(candidates)) {
    const { first, count } = catalog.labelsOf(page);
    const places = phrases.map((labels) =>
      labels.subarray(firstAtLeast(labels, first), firstAtLeast(labels, first + count)),
    );
    if (places.every(({ length }) => length > 0))
      found.set(
        page,
        places.map((labels) => labels.slice()),
      );
  }
  return found;
}

/** The intersection; null if there are no sets: everything. */
function inAll(sets: readonly Bitmap[]): Bitmap | null {
  if (sets.length === 0) return null;
  const [first, ...others] = sets;
  return first.map((word, at) => others.reduce((left, set) => left & set[at], word));
}

function inSome(sets: readonly Bitmap[], end: number): Bitmap {
  const all = createBitmap(end);
  for (const set of sets) for (const [at, word] of set.entries()) all[at] |= word;
  return all;
}

function narrowed(from: Bitmap, end: number, passes: (label: number) => boolean): AllowedLabels {
  const labels = createBitmap(end);
  let count = 0;
  for (let label = 0; label < end; label++) {
    if (!hasBit(from, label) || !passes(label)) continue;
    addBit(labels, label);
    count++;
  }
  return { labels, count };
}
