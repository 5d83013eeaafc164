/**
 * Which of some pages have every phrase that a query quotes, as it is written. The index names the passages that have its words side by
 * side; these are read, each with what may stand over its borders, until one has the phrase. So a page costs a passage, mostly.
 */
import { foldPhrase } from '../../compute/ranking/exact-query.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CandidatePages } from '../system/system-messages.ts';

/** Passages of a page that may be read for one phrase. */
const maxPlaces = 256;
/** Characters of passages that one search may read for phrases: some 400 passages, 20 ms. What is not found in them counts as not there. */
const maxCharacters = 1_000_000;
/** Characters read between two turns of the event loop, about 1 ms. */
const sliceCharacters = 32_768;
/** A phrase may be longer in the text than folded: letters with marks apart, runs of white space. */
const unfoldedLength = 4;
const unfoldedRoom = 64;

/**
 * The numbers of those of the pages that have each of the phrases in their title or text, folded. `quoting`: where each may have them. The
 * first pages are looked into first.
 */
export type FindPhrases = (
  phrases: readonly string[],
  pages: CandidatePages['quoting'],
  signal: AbortSignal | undefined,
) => Promise<ReadonlySet<number>>;

/** A phrase that is still to be found in a page, in one of these chunks. */
interface Sought {
  page: PageHead;
  /** Folded. */
  phrase: string;
  ordinals: readonly number[];
}

export function phraseFinder(reader: StoreReader): FindPhrases {
  return async (phrases, quoting, signal) => {
    if (phrases.length === 0 || quoting.size === 0) return new Set();
    const folded = phrases.map(foldPhrase);
    const pages = [...quoting].flatMap(([no, places]) => {
      const page = reader.pages.head(no);
      return page === undefined ? [] : [{ page, places }];
    });
    const holding = new Set(pages.map(({ page }) => page.no));
    let sought = pages.flatMap(({ page, places }): Sought[] => {
      const title = foldPhrase(page.title ?? '');
      return folded.flatMap((phrase, of) => {
        if (title.includes(phrase)) return [];
        const ordinals = Array.from(places[of].subarray(0, maxPlaces), (label) => label - page.first_label);
        return [{ page, phrase, ordinals }];
      });
    });
    let left = maxCharacters;
    let unbroken = 0;
    // One passage of each in turn: a page with many that might have the phrase does not use up what others need.
    for (let turn = 0; sought.length > 0; turn++) {
      const missed: Sought[] = [];
      for (const each of sought) {
        const { page, phrase, ordinals } = each;
        if (!holding.has(page.no)) continue;
        const text = turn < ordinals.length ? passageAround(reader, page.no, ordinals[turn], phrase, left) : null;
        if (text === null) {
          holding.delete(page.no);
          continue;
        }
        left -= text.length;
        unbroken += text.length;
        if (!foldPhrase(text).includes(phrase)) missed.push(each);
        if (unbroken < sliceCharacters) continue;
        unbroken = 0;
        await new Promise(setImmediate);
        signal?.throwIfAborted();
      }
      sought = missed;
    }
    return holding;
  };
}

/** A passage with as much text around it as the phrase may have beyond its borders; null where it is gone, or longer than may be read. */
function passageAround(
  { pages }: StoreReader,
  pageNo: number,
  ordinal: number,
  phrase: string,
  maxLength: number,
): string | null {
  const chunk = pages.chunk(pageNo, ordinal);
  if (chunk === undefined) return null;
  const around = phrase.length * unfoldedLength + unfoldedRoom;
  const [from, to] = [chunk.char_start - around, chunk.char_end + around];
  return to - from > maxLength ? null : pages.bodySlice(pageNo, from, to);
}
