/**
 * Of what type a name is: evidence from the name itself, from what its words are known as, and from the words around every one of
 * its mentions is added up over the page, and the type with most of it wins.
 */

import { countryNames } from './language-words.ts';
import {
  eventHeads,
  eventNouns,
  orgHeads,
  orgNouns,
  personNouns,
  personVerbs,
  placeBeginnings,
  placeHeads,
  placeNouns,
  placePrepositions,
  stateNames,
  workHeads,
  workNouns,
} from './name-cues.ts';
import type { NameContext, NameSpan } from './name-words.ts';
import type { TextToken } from './read-tokens.ts';
import type { KindShares, WordKinds } from './word-kinds.ts';

export const namedTypes = ['person', 'organization', 'place', 'work', 'event', 'group'] as const;
export type NamedType = (typeof namedTypes)[number];
export type TypeScores = Record<NamedType, number>;

const initial = /^\p{Lu}\.?$/u;
const acronym = /^\p{Lu}[\p{Lu}&\d]{1,6}$/u;
const generation = /^(?:jr\.?|sr\.?|i{2,3}|iv|vi{0,3}|ix|xi{0,3}|xiv|xvi?)$/;
const numeral = /^(?:[ivx]+|\d+)$/;
/** `F-16`, `P51`: types of machines. */
const designation = /^\p{Lu}{1,3}-?\d/u;
/** `WebFinger`, `LaTeX`: a capital inside, but for those of families, `McDonald`, `LaRue`: one more, and small letters to the end of the word. */
const innerCapital = /^(?!(?:Mc|Mac|De|Di|Du|La|Le|Van|Fitz)\p{Lu}\p{Ll}{2,}(?!\p{L})).*\p{Ll}\p{Lu}/u;
/** What stands between the head of a name and the rest: `Academy Award for Best Picture`. */
const joining = /^(?:of|for|in|at)$/;
const quote = /^["“”‘’']$/;

function noScores(): TypeScores {
  return { person: 0, organization: 0, place: 0, work: 0, event: 0, group: 0 };
}

export function addScores(into: TypeScores, from: TypeScores): void {
  for (const type of namedTypes) into[type] += from[type];
}

export function bestType(scores: TypeScores): NamedType {
  let best: NamedType = 'organization';
  let most = Number.NEGATIVE_INFINITY;
  for (const type of namedTypes) {
    if (scores[type] <= most) continue;
    best = type;
    most = scores[type];
  }
  return best;
}

/** What the name says by itself: counted once, whatever the number of its mentions. */
export function scoreForm({ tokens, evidence, kinds }: NameContext, { first, last }: NameSpan): TypeScores {
  const scores = noScores();
  const name = tokens.slice(first, last + 1);
  const lowers = name.map(({ lower }) => lower);
  const words = lowers[0] === 'the' ? lowers.slice(1) : lowers;
  const phrase = words.join(' ');
  const isCountry = !evidence.isEnglish && countryNames(evidence.language).has(phrase);
  if (isCountry || stateNames.has(phrase)) scores.place += 3;
  const known = kinds.phraseKind(phrase);
  if (known === 'place') scores.place += 2.5;
  else if (known === 'organization') scores.organization += 2.5;
  else if (known === 'group') scores.group += 2.5;

  const of = words.findIndex((word) => joining.test(word));
  const named = words.length > 1 && numeral.test(words[words.length - 1]) ? words.slice(0, -1) : words;
  const head = of > 0 ? words[of - 1] : named[named.length - 1];
  const isHeaded = orgHeads.has(head) || eventHeads.has(head) || workHeads.has(head);
  if (designation.test(name[0].text)) scores.work += 2.5;
  if (words.length > 1 || lowers.length > words.length) {
    if (orgHeads.has(head)) scores.organization += 3;
    if (placeHeads.has(head)) scores.place += 3;
    if (eventHeads.has(head)) scores.event += 3;
    if (workHeads.has(head)) scores.work += 3;
    if (placeBeginnings.has(words[0])) scores.place += 2;
    if (words.some((word) => orgHeads.has(word)) && of < 0) scores.organization += 0.5;
    if (words.includes('&') || words.includes('and')) scores.organization += 1;
    if (lowers[0] === 'the') scores.organization += 0.7;
  }
  if (words.length === 1) {
    scoreSingle(name[name.length - 1], kinds.kindsOf(words[0]), scores);
    return scores;
  }
  const capitals = name.filter(({ isCapitalized, lower }) => isCapitalized && lower !== 'the');
  const shares = capitals.map(({ lower }) => kinds.kindsOf(lower));
  const [start, end] = [shares[0], shares[shares.length - 1]];
  if (start !== undefined && end !== undefined) {
    const length = shares.length;
    if (length <= 4 && of < 0) {
      scores.person += 2.2 * start.given + 1.2 * end.family + 0.6 * end.given - 2 * Math.min(start.common, end.common);
      scores.person += 0.6 * start.family;
    }
    // `Bill Clinton`: a word that is a given name, too, before one that is no head of something else.
    if (length === 2 && words.length === 2 && isAmbiguousPerson(words, start, kinds)) {
      scores.person += 2.2 + 2 * Math.min(start.common, end.common);
    }
    const mean = (kind: 'place' | 'organization' | 'group' | 'common') =>
      shares.reduce((sum, each) => sum + each[kind], 0) / length;
    if (!isHeaded || placeHeads.has(head)) scores.place += 1.3 * mean('place') + 0.7 * end.place;
    scores.organization += 1.5 * mean('organization');
    scores.work += 1.3 * mean('common');
    scores.organization += 0.9 * mean('common');
    scores.organization += 0.7 * start.group;
    scores.group += 0.8 * end.group;
  }
  if (capitals.slice(0, -1).some(({ text }) => initial.test(text))) scores.person += 2;
  if (generation.test(words[words.length - 1])) scores.person += 1;
  if (words.some((word) => /^(?:van|von|bin|ibn|de|da|di|der)$/.test(word))) scores.person += 0.5;
  if (/\d/.test(words[words.length - 1])) scores.work += 1;
  return scores;
}

function isAmbiguousPerson([first, last]: readonly string[], { given }: KindShares, kinds: WordKinds): boolean {
  if (given > 0.5 || !kinds.mayBeGiven(first)) return false;
  if (orgHeads.has(last) || placeHeads.has(last) || eventHeads.has(last) || workHeads.has(last)) return false;
  const { place, organization, group } = kinds.kindsOf(last);
  return place < 0.5 && organization < 0.5 && group < 0.5;
}

function scoreSingle({ text }: TextToken, shares: Record<string, number>, scores: TypeScores): void {
  scores.person += 1.6 * Math.max(shares.given + shares.family, 0);
  scores.place += 1.8 * shares.place;
  scores.organization += 1.6 * shares.organization + 0.6 * shares.common;
  scores.group += 2.2 * shares.group;
  scores.work += 0.8 * shares.common;
  if (acronym.test(text)) {
    scores.organization += 1.2;
    scores.person -= 0.8;
  }
  if (innerCapital.test(text)) {
    scores.organization += 0.8;
    scores.work += 0.8;
    scores.person -= 1.5;
  }
}

/** What the words around one mention say. */
export function scoreMention(context: NameContext, { first, last, titled }: NameSpan): TypeScores {
  const { tokens, kinds } = context;
  const scores = noScores();
  if (titled) scores.person += 3;
  const at = (i: number): TextToken | undefined => {
    const token = tokens[i];
    return token === undefined || token.line !== tokens[first].line ? undefined : token;
  };
  const before = at(first - 1)?.lower ?? '';
  const before2 = at(first - 2)?.lower ?? '';
  const after = at(last + 1)?.lower ?? '';
  const after2 = at(last + 2)?.lower ?? '';
  const isQuoted = quote.test(before) && quote.test(after);

  scores.place += placePrepositions[before] ?? 0;
  if (before === 'the' || (before2 === 'the' && at(first - 1)?.pos === 'ADJ')) {
    scores.person -= 1;
    scores.organization += 0.5;
    scores.event += 0.2;
    if (before2 === 'in' || before2 === 'at' || before2 === 'from') scores.place += 0.3;
  }
  if (before === 'by' || before === 'with') scores.person += 0.4;
  if (before === 'and' || after === 'and') scores.person += 0.05;
  if (isQuoted) scores.work += 1.5;
  const noun = isQuoted ? before2 : before;
  if (!titled && (personNouns.has(noun) || kinds.isActor(noun))) scores.person += 1.2;
  if (orgNouns.has(noun)) scores.organization += 1.2;
  if (workNouns.has(noun)) scores.work += 1.8;
  if (eventNouns.has(noun)) scores.event += 1;
  const listed = listedAs(context, first);
  if (personNouns.has(listed) || kinds.isActor(listed)) scores.person += 1.2;
  if (orgNouns.has(listed)) scores.organization += 1.2;
  if (placeNouns.has(listed)) scores.place += 1.2;
  if (workNouns.has(listed)) scores.work += 1.2;
  if (before === 'of' && placeNouns.has(before2)) scores.place += 1.5;
  if (placeNouns.has(noun)) scores.place += 0.6;
  if (orgNouns.has(after) && last > first - 1) scores.organization += 0.7;
  if (workNouns.has(after)) scores.work += 0.5;
  if (placeNouns.has(after)) scores.place += 0.5;

  if (personVerbs.has(after) || (after === ',' && (after2 === 'who' || personNouns.has(after2)))) scores.person += 0.9;
  if (after === 'who' || after === 'whose') scores.person += 1.2;
  if (after === '(' && /^(?:born|b\.|1[0-9]\d\d|died|d\.)$/.test(after2)) scores.person += 1;
  if (/^(?:'s|’s)$/.test(after)) scores.person += 0.2;
  if (after === ',' && last + 2 < tokens.length) {
    const next = tokens[last + 2];
    if (next.isCapitalized && kinds.kindsOf(next.lower).place > 0.7) scores.place += 0.8;
  }
  if (before === ',' && first >= 2 && kinds.kindsOf(before2).place > 0.7) scores.place += 0.6;
  return scores;
}

/** Tokens before a name that are looked at for what it is an example of. */
const longestList = 40;

/** `bands such as Wire , The Fall and Gang of Four`: `band`, for each of them; '' for a name that is in no such list. */
function listedAs({ tokens }: NameContext, first: number): string {
  const { line } = tokens[first];
  for (let i = first - 1; i > 0 && i >= first - longestList && tokens[i].line === line; i--) {
    const { lower, isCapitalized, isWord } = tokens[i];
    if (lower === 'as' && tokens[i - 1].lower === 'such')
      return singular(tokens[i - (tokens[i - 2]?.text === ',' ? 3 : 2)]?.lower);
    if (lower === 'including' || lower === 'like')
      return singular(tokens[i - (tokens[i - 1].text === ',' ? 2 : 1)]?.lower);
    if (isWord && !isCapitalized && !/^(?:and|or|of|the|for|de|von|van|&)$/.test(lower)) return '';
    if (!isWord && !/^[,&('"“”’)-]$/.test(lower)) return '';
  }
  return '';
}

function singular(plural = ''): string {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`;
  return plural.endsWith('s') ? plural.slice(0, -1) : '';
}
