/** A token's words, terms and cost. Compound tokens (`covid-19`, a URL) are split so that each part can be found. */
import { normalizeText, withoutJoiners } from '../../domain/normalize-text.ts';
import { ownCopy } from '../structures/longer.ts';
import { otherForms } from './other-forms.ts';
import { foldAccents } from './scripts.ts';

/** Contract ("token_count"): a longer run counts as one token per four characters. */
const longRun = 32;
const charactersPerToken = 4;

const oneWord = /^[\p{L}\p{M}\p{N}]+$/u;
const asciiWord = /^[a-zA-Z0-9]+$/;
const acronym = /^(?:\p{L}\.)+\p{L}?$/u;
const shortened = /^\p{L}[\p{L}\p{M}]+\.$/u;
const number = /^[\p{N}]+(?:[.,:٫٬][\p{N}]+)*$/u;
const clitic = /^[\p{L}\p{M}]*'[\p{L}\p{M}]+$/u;
/** Single terms with a dot, comma or apostrophe: `U.S.`, `etc.`, `1,000.5`, `n't`. */
const wholeForms = [oneWord, acronym, shortened, number, clitic];
/** Always split. The tokenizer stops splitting once it has seen the lower-case word. */
const cliticEnd = /^(.+?)(?:n't|'(?:s|re|ve|ll|d|m))$/i;
/** Elided words of French and Italian: `l'eau`, `dell'arte`, `qu'il`. */
export const elision =
  /^(?:[cdjlmnstv]|qu|jusqu|quoiqu|lorsqu|puisqu|un|all|dall|dell|nell|sull|coll|gl|agl|dagl|degl|negl|sugl)'(?=[aeiouhy\u00e0-\u00ff\u0153]\p{M}*\p{L})/iu;
/** `1,299.99` and `1299.99` are one term. */
const grouped = /^\p{N}{1,3}(?:,\p{N}{3})+(?:\.\p{N}+)?$/u;
/** Not after a letter (`CO2,300`), nor in a list (`1,200,300,4`). */
const thousands = String.raw`(?<![\p{L}\p{M}\p{N}]|\p{N}[.,])\p{N}{1,3}(?:,\p{N}{3})+(?:\.\p{N}+)?(?![.,]?\p{N})`;
const dotted = String.raw`(?<!\p{N})\p{N}+(?:\.\p{N}+)+`;
/** A number with a mark is one term, so `3.11.4` finds `v3.11.4`, and `1299` finds `-1,299`. */
const markedNumber = new RegExp(`${thousands}|${dotted}`, 'gu');
const inWord = String.raw`\p{L}\p{M}\p{N}\p{Join_C}\u00ad\u2060`;
const wordOrRest = new RegExp(`${thousands}|${dotted}|(?:(?!${dotted})[${inWord}])+|[^${inWord}]+`, 'gu');
/** Max input of the stemmer, which misreads digits and takes quadratic time. */
const stemmable = /^[a-z']{1,32}$/;
const searchable = /[\p{L}\p{N}\p{Emoji_Presentation}]/u;
export const curlyApostrophes = /[‘’ʼ＇]/g;

/** Names such as `C++`, `C#`, `F#`; not a prefix of more (`i#section`, `+++`). */
const signedLetter = /(?<![\p{L}\p{M}\p{N}])\p{L}(?:\+\+|#)(?![\p{L}+#])/gu;

export interface WordPart {
  /** UTF-16 offsets from the token's start. */
  start: number;
  end: number;
  /** Lower-cased NFC, '' if not searchable. */
  word: string;
  stem: string;
  cost: number;
  /** Other forms that end here (other-forms.ts). They are found, but not counted. */
  others?: readonly { word: string; stem: string }[];
}

/** `length`: UTF-16 units. */
function tokenCost(length: number): number {
  return length > longRun ? Math.ceil(length / charactersPerToken) : 1;
}

/** `U.S.` = `US`, `1,000` = `1000`. */
function withoutMarks(term: string): string {
  if (acronym.test(term)) return term.replaceAll('.', '');
  return grouped.test(term) ? term.replaceAll(',', '') : term;
}

/** Returns a function that splits a surface into parts, in order and covering it. */
export function createWordTerms(stem: (word: string) => string): (surface: string) => WordPart[] {
  const stemOf = (word: string) => (stemmable.test(word) ? stem(word) : word);
  const part = (surface: string, start: number, cost: number): WordPart => {
    const end = start + surface.length;
    if (asciiWord.test(surface)) {
      const word = surface.toLowerCase();
      return { start, end, word, stem: stemOf(word), cost };
    }
    if (!searchable.test(surface)) return { start, end, word: '', stem: '', cost };
    const lower = withoutJoiners(normalizeText(surface, 'NFC')).replace(curlyApostrophes, "'").toLowerCase();
    const word = shortened.test(lower) ? lower.slice(0, -1) : lower;
    const folded = foldAccents(word);
    return { start, end, word, stem: stemOf(withoutMarks(folded)), cost };
  };
  const describe = (given: string): WordPart[] => {
    const surface = ownCopy(given);
    if (asciiWord.test(surface)) return [part(surface, 0, tokenCost(surface.length))];
    const bare = withoutJoiners(surface).replace(curlyApostrophes, "'");
    const host = bare.length === surface.length ? cliticEnd.exec(bare)?.[1].length : undefined;
    if (host !== undefined) {
      return [...describe(surface.slice(0, host)), part(surface.slice(host), host, 1)];
    }
    const elided = bare.length === surface.length ? elision.exec(bare)?.[0].length : undefined;
    if (elided !== undefined) {
      const rest = describe(surface.slice(elided));
      return [
        part(surface.slice(0, elided), 0, tokenCost(surface.length)),
        ...rest.map((each) => ({ ...each, start: each.start + elided, end: each.end + elided, cost: 0 })),
      ];
    }
    if (wholeForms.some((form) => form.test(bare)) || !searchable.test(surface))
      return [part(surface, 0, tokenCost(surface.length))];
    // Distributes the token's cost: a part costs one each time it passes the next whole token.
    const total = tokenCost(surface.length);
    return [...surface.matchAll(wordOrRest)].map((match) => {
      const spent = Math.ceil((match.index * total) / surface.length);
      return part(match[0], match.index, Math.ceil(((match.index + match[0].length) * total) / surface.length) - spent);
    });
  };
  return describe;
}

/** Makes each marked number a token; the tokenizer splits `v3.11.4` into five. Returns `ends` if nothing changes. */
export function endsAroundNumbers(surface: string, ends: readonly number[]): readonly number[] {
  const cut = Array.from(surface.matchAll(markedNumber), ({ 0: number, index }) => ({
    start: index,
    end: index + number.length,
  })).filter(({ start, end }) => ends.some((at) => start < at && at < end));
  if (cut.length === 0) return ends;
  const whole = ends.filter((at) => !cut.some(({ start, end }) => start < at && at < end));
  const borders = cut.flatMap(({ start, end }) => (start === 0 ? [end] : [start, end]));
  return [...new Set([...whole, ...borders])].sort((a, b) => a - b);
}

/** `parts` with the costs of `others`: each cost is added to the part in which the other begins. */
export function withCostsOf(others: readonly WordPart[], parts: readonly WordPart[]): WordPart[] {
  return parts.map((part) => {
    const within = others.filter(({ start }) => part.start <= start && start < part.end);
    return { ...part, cost: within.reduce((sum, { cost }) => sum + cost, 0) };
  });
}

/** `parts` of a stretch with its other forms, each at the part where it ends. `describe`: see `createWordTerms`. */
export function withOtherForms(
  surface: string,
  parts: readonly WordPart[],
  describe: (surface: string) => readonly WordPart[],
): readonly WordPart[] {
  const forms = otherForms(surface);
  if (forms.length === 0) return parts;
  return parts.map((part) => {
    const others = forms
      .filter(({ end }) => part.start < end && end <= part.end && part.word !== '')
      .flatMap(({ word, kind }) =>
        kind === 'name' ? [{ word, stem: word }] : describe(word).map(({ stem }) => ({ word, stem })),
      );
    return others.length === 0 ? part : { ...part, others };
  });
}

/** Joins the parts of `C++` or `C#` at equal cost, not inside a larger part. `parts`: in order, covering a stretch. */
export function joinSignedLetters(surface: string, parts: readonly WordPart[]): readonly WordPart[] {
  const names = [...surface.matchAll(signedLetter)]
    .map(({ 0: name, index }) => ({ start: index, end: index + name.length, word: name.toLowerCase() }))
    .filter((name) => parts.some(({ start }) => start === name.start) && parts.some(({ end }) => end === name.end));
  if (names.length === 0) return parts;
  const joined: WordPart[] = [];
  for (const part of parts) {
    const name = names.find(({ start, end }) => start <= part.start && part.end <= end);
    const last = joined.at(-1);
    if (name === undefined) joined.push(part);
    else if (last?.start === name.start) last.cost += part.cost;
    else joined.push({ ...name, stem: name.word, cost: part.cost });
  }
  return joined;
}
