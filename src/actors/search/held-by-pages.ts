/**
 * Which pages hold what a query asks for, and which of their passages may be found. The index names the passages that hold each thing; a page
 * holds what any of its passages does.
 */

import { addBit, type Bitmap, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { firstAtLeast } from '../../compute/structures/sorted-search.ts';
import type { Held, HeldByPages } from '../../domain/held.ts';
import type { Searchers } from '../../engine/searchers.ts';
import type { AllowedLabels, Catalog } from '../../index/catalog.ts';
import type { CandidatePages } from '../system/system-messages.ts';

export interface Holding {
  /** The passages that may be found; null: all. */
  allowed: AllowedLabels | null;
  /** Those of them that may have one of the phrases, on pages that may have every one; null where there is none. */
  quoting: Bitmap | null;
  /** The labels of each phrase. */
  phrases: readonly Uint32Array[];
}

interface Located {
  held: Held;
  labels: Uint32Array;
}

/** Find out, among the passages that the filters allow. Errors: those of the threads. */
export async function findHolding(
  { catalog, searchers }: { catalog: Catalog; searchers: Pick<Searchers, 'locate'> },
  { phrases, held: { all, none } }: { phrases: readonly string[]; held: HeldByPages },
  filtered: AllowedLabels | null,
): Promise<Holding> {
  const quoted = phrases.map((text): Held => ({ in: 'phrase', text }));
  const ofWords = [...quoted, ...all.filter((each) => each.in !== 'phrase'), ...none].filter(
    (each) => each.in !== 'site',
  );
  if (ofWords.length === 0 && all.length + none.length === 0) return { allowed: filtered, quoting: null, phrases: [] };
  const labels = ofWords.length === 0 ? [] : await searchers.locate(ofWords);
  const located = ofWords.map((held, at): Located => ({ held, labels: labels[at] }));
  const ofPhrases = labels.slice(0, phrases.length);
  const isRequired = all.some((each) => each.in === 'phrase');

  const pagesOf = ({ labels }: Pick<Located, 'labels'>): Set<number> => {
    const pages = new Set<number>();
    for (const label of labels) pages.add(catalog.pageOf(label));
    return pages;
  };
  const pagesUnder = (sites: readonly Held[]) => new Set(sites.flatMap(({ text }) => catalog.pagesUnder(text)));
  const locatedIn = (list: readonly Held[]) => located.filter(({ held }) => list.includes(held));

  const quotingPages = intersection(ofPhrases.map((each) => pagesOf({ labels: each })));
  const sites = all.filter((each) => each.in === 'site');
  const wanted = [
    ...locatedIn(all).map(pagesOf),
    ...(sites.length > 0 ? [pagesUnder(sites)] : []),
    ...(isRequired && quotingPages !== null ? [quotingPages] : []),
  ];
  const pages = intersection(wanted);
  const unwanted = [...locatedIn(none).map(pagesOf), pagesUnder(none.filter((each) => each.in === 'site'))];
  const languages = locatedIn(all).filter(({ held }) => held.in === 'language');
  const passages = [
    ...languages.map((each) => bitmapOf(each.labels, catalog.labelEnd)),
    ...(isRequired
      ? [
          bitmapOf(
            ofPhrases.flatMap((each) => [...each]),
            catalog.labelEnd,
          ),
        ]
      : []),
  ];
  const passes = (label: number): boolean => {
    const page = catalog.pageOf(label);
    if (page === 0 || pages?.has(page) === false || unwanted.some((each) => each.has(page))) return false;
    return passages.every((set) => hasBit(set, label));
  };
  const isNarrowed = pages !== null || none.length > 0;
  const allowed = isNarrowed ? narrowed(filtered?.labels ?? catalog.live(), catalog.labelEnd, passes) : filtered;
  if (quotingPages === null) return { allowed, quoting: null, phrases: ofPhrases };
  const quoting = createBitmap(catalog.labelEnd);
  for (const list of ofPhrases) {
    for (const label of list) {
      if (quotingPages.has(catalog.pageOf(label)) && (allowed === null || hasBit(allowed.labels, label)))
        addBit(quoting, label);
    }
  }
  return { allowed, quoting, phrases: ofPhrases };
}

/** Of candidate pages those that may have every phrase, with where. */
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

/** Null for no sets: everything. */
function intersection(sets: readonly ReadonlySet<number>[]): ReadonlySet<number> | null {
  if (sets.length === 0) return null;
  const [least, ...others] = [...sets].sort((a, b) => a.size - b.size);
  return new Set([...least].filter((each) => each !== 0 && others.every((set) => set.has(each))));
}

function bitmapOf(labels: Iterable<number>, end: number): Bitmap {
  const set = createBitmap(end);
  for (const label of labels) if (label < end) addBit(set, label);
  return set;
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
