/**
 * Pages of the same few words in another order: words alone cannot tell them apart, and an oracle that knows in which order they stood
 * can. Its vectors are those of a very good model; `noiseOf` are those of one that knows nothing.
 */
import { seededRandom } from '../../src/compute/seeded-random.ts';

const firstHalves = ['sea', 'moon', 'sun', 'fire', 'snow', 'wind', 'rain', 'star', 'wood', 'gold'];
const secondHalves = ['stone', 'light', 'bird', 'flower', 'house', 'field', 'berry', 'fish', 'drop', 'wheel'];
const vocabulary = firstHalves.flatMap((first) => secondHalves.map((second) => first + second));

export interface PuzzlePage {
  url: string;
  title: string;
  body_extracted: string;
}

export function puzzlePages(count: number): PuzzlePage[] {
  const random = seededRandom(count);
  const words = (length: number) =>
    Array.from({ length }, () => vocabulary[Math.floor(random() * vocabulary.length)]).join(' ');
  return Array.from({ length: count }, (_, no) => ({
    url: `https://puzzle.example/${no}`,
    title: words(5),
    body_extracted: Array.from({ length: 4 }, () => `The ${words(16)}.`).join('\n\n'),
  }));
}

/** Vector of the page that has a line with the words of the text in their order; noise where there is none. */
export function oracleOf(pages: readonly PuzzlePage[], dim: number): (text: string) => number[] {
  const lines = pages.flatMap(({ title, body_extracted }, no) =>
    [title, ...body_extracted.split('\n\n')].map((line) => ({ no, words: wordsOf(line) })),
  );
  return (text) => {
    const asked = text
      .split('\n')
      .map(wordsOf)
      .filter(({ length }) => length > 0);
    const found = lines.find(({ words }) => asked.some((each) => isWithin(each, words)));
    return found === undefined ? noiseOf(text, dim) : noiseOf(`page ${found.no}`, dim);
  };
}

/** Another vector for each text. */
export function noiseOf(text: string, dim: number): number[] {
  let seed = 7;
  for (let at = 0; at < text.length; at++) seed = (Math.imul(seed, 31) + text.charCodeAt(at)) | 0;
  const random = seededRandom(seed);
  return Array.from({ length: dim }, () => random() - 0.5);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const word of all) if (word === some[at]) at++;
  return at === some.length;
}
