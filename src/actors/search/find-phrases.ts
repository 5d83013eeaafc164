/** Finds the pages that contain every quoted phrase verbatim. For each phrase, reads passages until one contains it. */
import { foldPhrase } from '../../compute/ranking/exact-query.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import { nextTurn } from '../system/background.ts';
import type { CandidatePages } from '../system/service.ts';

/** Passages read per page and phrase. */
const maxPlaces = 256;
/** Characters read per search: some 400 passages, 20 ms. After that, phrases count as missing. */
const maxCharacters = 1_000_000;
/** Characters per turn of the event loop: about 1 ms. */
const sliceCharacters = 32_768;
/** A phrase may be longer in the text than when folded: decomposed letters, white space. */
const unfoldedLength = 4;
const unfoldedRoom = 64;

/** Pages with every folded phrase in title or text. `pages`: candidate passages per phrase, read in their order. */
export type FindPhrases = (
  phrases: readonly string[],
  pages: CandidatePages['quoting'],
  signal: AbortSignal | undefined,
) => Promise<ReadonlySet<number>>;

interface Sought {
  page: PageHead;
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
    // One passage per page in turn, so that no page uses up the limit.
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
        await nextTurn(signal);
      }
      sought = missed;
    }
    return holding;
  };
}

/** A passage with enough context for the phrase; null if it is gone or over the limit. */
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
