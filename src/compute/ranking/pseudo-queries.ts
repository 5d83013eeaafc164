/**
 * Queries that the library asks of itself: what somebody may type who remembers a passage, made of its title, its heading, or a few words
 * of one of its sentences. The passage's page is what they are to find. Pure; called by the learning of fusion weights and by trials of
 * models.
 */

export interface PassageText {
  title: string | null;
  section: string | null;
  text: string;
}

/** In [0, 1). */
type Random = () => number;

/** Words that a query of a sentence keeps, at least and at most: what people type. */
const FEWEST = 4;
const MOST = 8;
/** Words of a title or heading that names something. */
const LEAST_NAMING = 2;
/** Characters of the stretch of a passage that a sentence is taken from. */
const SENTENCE_WINDOW = 2000;

const words = new Intl.Segmenter('und', { granularity: 'word' });
const sentences = new Intl.Segmenter('und', { granularity: 'sentence' });

/**
 * A query for a passage, or null where it has too few words to make one of. One of four is its title or heading, where it has one: those
 * are found by words alone and tell the two sides apart least.
 * Source: inverse cloze task, Lee, Chang & Toutanova 2019; words dropped, as nobody remembers a sentence whole.
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

/** A title or heading without one of its words, so that it is not found by being the title; null where too few would be left to name anything. */
export function withoutOneWord(name: string | null, random: Random): string | null {
  const all = name === null ? [] : wordsOf(name);
  return all.length <= LEAST_NAMING ? null : all.toSpliced(Math.floor(random() * all.length), 1).join(' ');
}

function wordsOf(text: string): string[] {
  return Array.from(words.segment(text)).flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []));
}
