/** Synthetic queries, like those of a person who remembers a passage, for replays and comparisons of models. */

export interface PassageText {
  title: string | null;
  section: string | null;
  text: string;
}

type Random = () => number;

/** Min words of a sentence query: people type as many. */
const FEWEST = 4;
const MOST = 8;
const LEAST_NAMING = 2;
const SENTENCE_WINDOW = 2000;

const words = new Intl.Segmenter('und', { granularity: 'word' });
const sentences = new Intl.Segmenter('und', { granularity: 'sentence' });

/**
 * Null for too few words. One in four is the title or heading: words alone find those, so they distinguish least.
 * Source: inverse cloze task, Lee, Chang & Toutanova 2019; words are dropped, as people forget some.
 */
export function pseudoQuery({ title, section, text }: PassageText, random: Random): string | null {
  const naming = [title, section].filter((name) => name !== null && wordsOf(name).length >= LEAST_NAMING);
  if (naming.length > 0 && random() < 0.25) return naming[Math.floor(random() * naming.length)];
  const from = Math.floor(random() * Math.max(1, text.length - SENTENCE_WINDOW));
  const long = Array.from(sentences.segment(text.slice(from, from + SENTENCE_WINDOW)), ({ segment }) =>
    wordsOf(segment).filter((word) => word.length > 1),
  ).filter(({ length }) => length > MOST);
  if (long.length === 0) return null;
  const sentence = long[Math.floor(random() * long.length)];
  const wanted = FEWEST + Math.floor(random() * (MOST - FEWEST + 1));
  const kept = new Set<number>();
  while (kept.size < wanted) kept.add(Math.floor(random() * sentence.length));
  return sentence.filter((_, at) => kept.has(at)).join(' ');
}

/** A title without one word, so that it is not an exact match; null if too short. */
export function withoutOneWord(name: string | null, random: Random): string | null {
  const all = name === null ? [] : wordsOf(name);
  return all.length <= LEAST_NAMING ? null : all.toSpliced(Math.floor(random() * all.length), 1).join(' ');
}

function wordsOf(text: string): string[] {
  return Array.from(words.segment(text)).flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []));
}
