/**
 * Which of some pages hold every phrase that a query quotes. The index names the passages that hold a phrase's rarest word; these are
 * read, each with what may stand over its borders, until one has the phrase. So a page costs a passage or a few, however long it is.
 */
import { foldPhrase } from '../../compute/ranking/exact-query.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { SystemAsk } from '../system/system-messages.ts';

/** Phrases of a query that are looked for; a query with more of them is taken for none. */
const maxPhrases = 16;
/** Characters of passages that one search may read for phrases: some 400 passages, 20 ms. What is not found in them counts as not there. */
const maxCharacters = 1_000_000;
/** Characters read between two turns of the event loop, about 1 ms. */
const sliceCharacters = 32_768;
/** A phrase may be longer in the text than folded: letters with marks apart, runs of white space. */
const unfoldedLength = 4;
const unfoldedRoom = 64;

export interface PhraseDependencies {
  ask: SystemAsk;
  reader: StoreReader;
}

/** The numbers of those of the pages that have each of the phrases in their title or text, folded. The first pages are looked into first. */
export type FindPhrases = (
  phrases: readonly string[],
  pageNos: readonly number[],
  signal: AbortSignal | undefined,
) => Promise<ReadonlySet<number>>;

/** A phrase that is still to be found in a page, in one of these chunks. */
interface Sought {
  page: PageHead;
  /** Folded. */
  phrase: string;
  ordinals: readonly number[];
}

export function phraseFinder({ ask, reader }: PhraseDependencies): FindPhrases {
  return async (phrases, pageNos, signal) => {
    if (phrases.length === 0 || phrases.length > maxPhrases) return new Set();
    const pages = pageNos.flatMap((no) => reader.pages.head(no) ?? []);
    const ranges = pages.map(({ first_label, chunk_count }) => ({ first: first_label, count: chunk_count }));
    const places = await ask('index.locatePhrases', { phrases, pages: ranges }, { signal });
    const holding = new Set(pages.map(({ no }) => no));
    let sought = pages.flatMap((page, at): Sought[] => {
      const title = foldPhrase(page.title ?? '');
      return phrases.map(foldPhrase).flatMap((phrase, of) => {
        return title.includes(phrase) ? [] : [{ page, phrase, ordinals: places[at][of] }];
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
