/** Divides the pages of a backfill into slices. Reading, embedding and storing a slice takes some tens of ms. */
import type { Chunk } from '../../domain/page.ts';
import type { StoreReader } from '../../store/store.ts';
import { inParts } from '../system/background.ts';

export interface PageToEmbed {
  page_no: number;
  first: number;
  /** Number of chunks of the page. */
  count: number;
  title: string | null;
  text: string;
  /** Chunks that lack vectors. */
  ordinals: number[];
  chunks: Chunk[];
}

export interface PageSlice {
  pages: PageToEmbed[];
  /** Number of chunks in the slice that have vectors already. */
  found: number;
  /** Pages without missing vectors. */
  closed: number[];
  /** The last page examined. */
  upTo: number;
}

/** Max chunks, UTF-16 units and pages of a slice. Chunks of 64, 128 and 256: 1.06, 0.85 and 0.91 ms per chunk. */
const maxChunks = 128;
const maxLength = 262_144;
const maxPages = 1000;
/** Pages counted per turn of the event loop. */
const countedPages = 200;

/** Slices of the pages after `cursor` up to `lastPage`. Each is read on demand. */
export function* slicesFrom(
  reader: StoreReader,
  space: number,
  cursor: number,
  lastPage: number,
): Generator<PageSlice> {
  for (let from = cursor + 1; from <= lastPage; ) {
    const slice = sliceOf(reader, space, numbersBetween(from, lastPage));
    yield slice;
    from = slice.upTo + 1;
  }
}

/** A slice of the first of these pages. */
export function sliceOf(reader: StoreReader, space: number, numbers: Iterable<number>): PageSlice {
  const slice: PageSlice = { pages: [], found: 0, closed: [], upTo: 0 };
  let taken = 0;
  let length = 0;
  let looked = 0;
  for (const no of numbers) {
    if (looked++ === maxPages || taken >= maxChunks || length >= maxLength) break;
    slice.upTo = no;
    const page = reader.pages.head(no);
    const ordinals = page === undefined ? [] : ordinalsLacking(reader, space, no);
    if (page === undefined || ordinals.length === 0) {
      slice.found += page?.chunk_count ?? 0;
      slice.closed.push(no);
      continue;
    }
    const text = reader.pages.body(no) ?? '';
    const { title, first_label: first, chunk_count: count } = page;
    slice.found += count - ordinals.length;
    const all = reader.pages.chunks(no);
    const chunks = ordinals.map((at) => all[at]);
    slice.pages.push({ page_no: no, first, count, title, text, ordinals, chunks });
    taken += ordinals.length;
    length += text.length;
  }
  return slice;
}

/** Ordinals of a page's chunks that lack vectors in a space: all, the refused ones, or none. */
function ordinalsLacking(reader: StoreReader, space: number, no: number): number[] {
  if (reader.vectors.has(space, no)) return reader.refusedTexts.get(space, no)?.ordinals ?? [];
  return [...reader.pages.chunks(no).keys()];
}

/** Refused chunks of a space's pages up to a number, and the reason for the last one; null if there are none. */
export function refusedIn(
  reader: StoreReader,
  space: number,
  upTo = Number.MAX_SAFE_INTEGER,
): { chunks: number; pages: number; reason: string | null } {
  const refused = { chunks: 0, pages: 0, reason: null as string | null };
  for (const [pageNo, { ordinals, reason }] of reader.refusedTexts.ofSpace(space)) {
    if (pageNo > upTo) break;
    refused.chunks += ordinals.length;
    refused.pages++;
    refused.reason = reason;
  }
  return refused;
}

/** Chunks and tokens of all pages, or of those without vectors in the given space. */
export async function countPages(
  reader: StoreReader,
  signal: AbortSignal | undefined,
  missingIn?: number,
): Promise<{ chunks: number; tokens: number }> {
  const counts = { chunks: 0, tokens: 0 };
  for await (const numbers of inParts((after) => reader.pages.numbersAfter(after, countedPages), Number, { signal })) {
    for (const no of numbers) {
      const chunks = reader.pages.chunks(no);
      const counted = missingIn === undefined ? chunks.keys() : ordinalsLacking(reader, missingIn, no);
      for (const ordinal of counted) {
        counts.chunks++;
        counts.tokens += chunks[ordinal].token_count;
      }
    }
  }
  return counts;
}

function* numbersBetween(from: number, to: number): Generator<number> {
  for (let no = from; no <= to; no++) yield no;
}
