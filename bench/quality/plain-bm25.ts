/**
 * The reference that a ranking in any language is measured against: BM25 (k1 1.2, b 0.75) over the words of `Intl.Segmenter`, lower-cased, with Snowball's
 * stems where `@orama/stemmers` has the language. Nothing is folded, corrected or left out. It shares no code with the index.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const K1 = 1.2;
const B = 0.75;

/** By ISO 639-1 code the package's module. */
const modules: Readonly<Record<string, string>> = {
  ...{
    ar: 'arabic',
    hy: 'armenian',
    bg: 'bulgarian',
    da: 'danish',
    nl: 'dutch',
    en: 'english',
    fi: 'finnish',
    fr: 'french',
  },
  ...{ de: 'german', el: 'greek', hi: 'indian', hu: 'hungarian', id: 'indonesian', it: 'italian', lt: 'lithuanian' },
  ...{ no: 'norwegian', pt: 'portuguese', ro: 'romanian', ru: 'russian', sr: 'serbian', es: 'spanish', sv: 'swedish' },
  ...{ ta: 'tamil', tr: 'turkish', uk: 'ukrainian' },
};

/** The ids of the documents that have a word of the query, best first. */
export type PlainSearch = (query: string) => string[];

/** Read a collection's documents. `language`: ISO 639-1. */
export async function plainBm25(folder: string, language: string): Promise<PlainSearch> {
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  const stem = await stemmerOf(language);
  const wordsOf = (text: string) =>
    Array.from(segmenter.segment(text)).flatMap(({ segment, isWordLike }) =>
      isWordLike ? [stem(segment.toLowerCase())] : [],
    );
  const postings = new Map<string, Map<number, number>>();
  const ids: string[] = [];
  const lengths: number[] = [];
  for (const line of readFileSync(join(folder, 'corpus.jsonl'), 'utf8').trim().split('\n')) {
    const { _id, title = '', text } = JSON.parse(line);
    const words = wordsOf(`${title} ${text}`);
    const document = ids.push(_id) - 1;
    lengths.push(words.length);
    for (const word of words) {
      const list = postings.get(word) ?? new Map<number, number>();
      postings.set(word, list.set(document, (list.get(document) ?? 0) + 1));
    }
  }
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  return (query) => {
    const scores = new Map<number, number>();
    for (const word of wordsOf(query)) {
      const list = postings.get(word) ?? new Map<number, number>();
      const idf = Math.log(1 + (ids.length - list.size + 0.5) / (list.size + 0.5));
      for (const [document, tf] of list) {
        const gain = (idf * tf) / (tf + K1 * (1 - B + (B * lengths[document]) / meanLength));
        scores.set(document, (scores.get(document) ?? 0) + gain);
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b).map(([document]) => ids[document]);
  };
}

async function stemmerOf(language: string): Promise<(word: string) => string> {
  const name = modules[language];
  if (name === undefined) return (word) => word;
  const { stemmer } = await import(`@orama/stemmers/${name}`);
  if (language !== 'bg') return stemmer;
  // Its rules replace the characters of an array.
  return (word) => {
    const characters = Array.from(word);
    const substring = (from: number, to: number) => characters.slice(from, to).join('');
    return stemmer(Object.assign(characters, { substring }));
  };
}
