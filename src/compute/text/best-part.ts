/** The part of a passage that best matches a query's written words, for short displays. Pure. */
import { foldAccents } from './fold-accents.ts';
import { eachCharacter, findUnspacedRuns } from './unspaced-scripts.ts';

interface Word {
  form: string;
  start: number;
  end: number;
}

const spacedWord = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Common letters by which longer words match: `governor`, `governors`. */
const sharedLetters = 6;
/** Ignored if the query has other words: of, the, to. */
const littleWord = /^[a-z]{1,3}$/;
/** A part may begin after these. */
const sentenceBorder = /[.!?。！？]["'”’)\]]*\s+|\n+/g;

/** In order, cut to the compared letters; pairs of characters in unspaced scripts. */
function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  const runs = findUnspacedRuns(text);
  for (const run of runs) {
    eachCharacter(text, run, ({ term, start, end }) => {
      if (term !== '') words.push({ form: term, start, end });
    });
  }
  let run = 0;
  for (const { 0: word, index } of text.matchAll(spacedWord)) {
    while (run < runs.length && runs[run].end <= index) run++;
    if (run < runs.length && runs[run].start <= index) continue;
    const form = foldAccents(word.slice(0, 2 * sharedLetters).toLowerCase()).slice(0, sharedLetters);
    words.push({ form, start: index, end: index + word.length });
  }
  return words.sort((a, b) => a.start - b.start);
}

/** End of the last sentence border in `from`..`to`, or -1. */
function sentenceStart(text: string, from: number, to: number): number {
  let start = -1;
  for (const { 0: match, index } of text.slice(from, to).matchAll(sentenceBorder)) start = from + index + match.length;
  return start;
}

/** The next word's start, at most `to`. */
function wordStart(text: string, from: number, to: number): number {
  const space = /\s+/.exec(text.slice(from, to));
  return space === null ? to : from + space.index + space[0].length;
}

/**
 * Start of the part of `length` with most query words, longer ones weighing more. Begins at the sentence of the first hit if there is
 * room, else centres the hits. 0 for short texts or without hits.
 * Units: UTF-16 code units, never inside a character. Linear.
 */
export function bestPart(text: string, query: string, length: number): number {
  if (text.length <= length) return 0;
  const forms = wordsOf(query).map(({ form }) => form);
  const telling = forms.filter((form) => !littleWord.test(form));
  const wanted = new Map((telling.length > 0 ? telling : forms).map((form) => [form, 0]));
  const found = wordsOf(text).filter(({ form }) => wanted.has(form));
  let score = 0;
  let best = 0;
  let [first, last] = [0, 0];
  let left = 0;
  for (const word of found) {
    const held = wanted.get(word.form) ?? 0;
    if (held === 0) score += word.form.length;
    wanted.set(word.form, held + 1);
    while (word.end - found[left].start > length) {
      const { form } = found[left++];
      const rest = (wanted.get(form) ?? 0) - 1;
      wanted.set(form, rest);
      if (rest === 0) score -= form.length;
    }
    if (score <= best) continue;
    best = score;
    [first, last] = [found[left].start, word.end];
  }
  if (best === 0) return 0;
  const earliest = Math.max(0, last - length);
  if (earliest === 0) return 0;
  const sentence = sentenceStart(text, earliest, first);
  return sentence >= 0 ? sentence : wordStart(text, Math.max(earliest, Math.floor((first + last - length) / 2)), first);
}
