/** Compounds of Germanic languages, found by the words of the corpus, not by a dictionary (Koehn & Knight 2003). */
import { memoized } from '../../compute/structures/memoized.ts';
import { stemIn } from '../../compute/text/stemmers.ts';
import { type CorpusSegment, documentFrequency } from './corpus.ts';
import { type CorpusWord, commonestOf, letters, wordsWith } from './corpus-words.ts';

const languages: ReadonlySet<string> = new Set(['de', 'nl', 'sv', 'da', 'no']);
/** Letters that may join two parts. */
const joints = ['', 's', 'es', 'n', 'en', 'er', 'e'];
const leastPart = 4;
/** A part in fewer passages occurs by chance. */
const leastPassages = 2;
const mostLetters = 40;
const mostCompounds = 5;

/** Weights of a part of a compound, and of a compound, relative to the word itself (`npm run bench -- compounds`). */
export const PART = 0.3;
export const COMPOUND = 0.1;

interface Split {
  stems: string[];
  /** Sum of the logarithms of the parts' passage counts. */
  weight: number;
}

/** Stems of the parts with the highest geometric mean of frequencies; none if the whole word is more frequent. */
export function partsOf(corpus: readonly CorpusSegment[], word: string, language: string): string[] {
  if (!languages.has(language) || !letters.test(word) || word.length < 2 * leastPart || word.length > mostLetters)
    return [];
  const whole = (part: string): Split[] => {
    const stem = stemOf(part, language);
    const passages = documentFrequency(corpus, stem);
    return passages < leastPassages ? [] : [{ stems: [stem], weight: Math.log(passages) }];
  };
  const splits: (rest: string) => Split[] = memoized(Number.POSITIVE_INFINITY, (rest) => {
    const found = whole(rest);
    for (let at = leastPart; at <= rest.length - leastPart; at++) {
      const [first] = joints
        .filter((joint) => rest.slice(0, at).endsWith(joint) && at - joint.length >= leastPart)
        .flatMap((joint) => whole(rest.slice(0, at - joint.length)))
        .sort((a, b) => b.weight - a.weight);
      if (first === undefined) continue;
      for (const { stems, weight } of splits(rest.slice(at)))
        found.push({ stems: [...first.stems, ...stems], weight: first.weight + weight });
    }
    return found;
  });
  const mean = ({ stems, weight }: Split) => weight / stems.length;
  const [best] = splits(word).sort((a, b) => mean(b) - mean(a));
  return best === undefined || best.stems.length === 1 ? [] : best.stems;
}

/** The most frequent words of the corpus that begin or end with a stem, if the corpus also has the rest. */
export function compoundsOf(corpus: readonly CorpusSegment[], stem: string, language: string): CorpusWord[] {
  if (!languages.has(language) || !letters.test(stem) || stem.length < leastPart) return [];
  const isKnown = (part: string) =>
    part.length >= leastPart && documentFrequency(corpus, stemOf(part, language)) >= leastPassages;
  const isCompound = ({ word }: CorpusWord) =>
    joints.some(
      (joint) =>
        (word.startsWith(stem + joint) && isKnown(word.slice(stem.length + joint.length))) ||
        (word.endsWith(joint + stem) && isKnown(word.slice(0, -stem.length - joint.length))),
    );
  const all = (['beginning', 'end'] as const).flatMap((end) => wordsWith(corpus, stem, end));
  return commonestOf(corpus, all, mostCompounds, isCompound);
}

const stemOf = (word: string, language: string): string => stemIn(language, word) ?? word;
