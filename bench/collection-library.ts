/**
 * A library of any size out of the ranking collections of ../shared/data/ir, and queries that people asked of them. A page is whole documents one after the
 * other: page n begins with the nth, by which it is called, and the others are drawn, so that pages differ also where there are more of them than the
 * collections have documents. The vocabulary does not grow with it any further.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomStream } from './workload.ts';

const root = join(import.meta.dirname, '../../shared/data/ir');
/** Longer queries are not typed into a box, characters. */
const maxTyped = 48;
const STREAM = { page: 1, queries: 2 } as const;

interface Entry {
  title?: string;
  text: string;
}

export interface CollectionLibrary {
  /** Page `number`, of at least so many words. */
  pageAt(number: number, leastWords: number): { url: string; title: string; body_extracted: string };
  /** In an order that is drawn, those of each collection in turn. */
  queries: string[];
}

/** Why these collections cannot be read; null where they can. */
export function missingCollection(names: readonly string[]): string | null {
  const missing = names.filter((name) => !existsSync(join(root, name, 'corpus.jsonl')));
  return missing.length === 0 ? null : `there is no ${missing.join(', ')} in ${root}`;
}

/** Errors: where a collection is missing, or has no query that is typed. */
export function openCollections(names: readonly string[], seed: number): CollectionLibrary {
  const documents = names.flatMap((name) => read(name, 'corpus.jsonl')).filter(({ text }) => text.trim() !== '');
  return {
    pageAt: (number, leastWords) => {
      const random = randomStream(seed, STREAM.page, number);
      const first = documents[number % documents.length];
      const texts = [first.text];
      for (let words = wordsIn(first.text); words < leastWords; words += wordsIn(texts[texts.length - 1]))
        texts.push(documents[Math.floor(random() * documents.length)].text);
      const title = first.title || first.text.split(/\s+/, 6).join(' ');
      return { url: `https://bench.example/${number}`, title, body_extracted: texts.join('\n\n') };
    },
    queries: inTurn(names.map((name) => typedQueries(name, randomStream(seed, STREAM.queries, 0)))),
  };
}

function typedQueries(name: string, random: () => number): string[] {
  const typed = read(name, 'queries.jsonl').filter(({ text }) => text.length <= maxTyped);
  if (typed.length === 0) throw new Error(`${name} has no query of at most ${maxTyped} characters`);
  return typed
    .map(({ text }) => ({ text, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ text }) => text);
}

/** The first of each list, then the second of each that has one, and so on. */
function inTurn(lists: readonly string[][]): string[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

const wordsIn = (text: string) => text.split(/\s+/).length;

const read = (name: string, file: string): Entry[] =>
  readFileSync(join(root, name, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
