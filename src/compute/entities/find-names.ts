/**
 * Where names are: runs of capitalised words, with the particles, numbers and joining words that belong inside names. A capital at
 * the beginning of a sentence or in a headline counts only where the page or the lexicon knows the word as a name. What this gets wrong
 * in running English `correctNames` mends.
 */
import { stopWordsOf } from '../text/stop-words.ts';
import { countryNames } from './language-words.ts';
import {
  countingWords,
  eventHeads,
  honorifics,
  joiningParticles,
  nameParticles,
  orgHeads,
  personNouns,
  placeHeads,
  titleModifiers,
  workHeads,
} from './name-cues.ts';
import {
  bare,
  canBeInName,
  continues,
  maxTokens,
  type NameContext,
  type NameSpan,
  sameLine,
  year,
} from './name-words.ts';
import type { TextToken } from './read-tokens.ts';
import { trimTitles } from './trim-titles.ts';

const monthOfMay = /^may$/;
const numeral = /^(?:[IVX]+|\d{1,4}(?:st|nd|rd|th)?)$/;
/** With a place they name a person: `Duke of Wellington`. */
const nobility: ReadonlySet<string> = new Set([
  'duke',
  'duchess',
  'earl',
  'prince',
  'princess',
  'count',
  'countess',
  'baron',
  'marquess',
  'viscount',
]);
const initial = /^\p{Lu}\.?$/u;
/** `Python-only`: the last word of a compound, in lower case. */
const compoundEnd = /[-–](\p{Ll}{4,})$/u;
const acronym = /^(?:\p{Lu}{2,6}|(?:\p{Lu}\.){2,})$/u;
/** Particles that may follow another one. */
const furtherParticle = /^(?:la|le|les|der|den|las|los|al|el)$/;

export function findNames(context: NameContext): NameSpan[] {
  const { tokens } = context;
  const spans: NameSpan[] = [];
  for (let i = 0; i < tokens.length; ) {
    if (!beginsName(context, i)) {
      i++;
      continue;
    }
    const last = endOfName(context, i);
    spans.push(...namesIn(context, i, last));
    i = last + 1;
  }
  return spans;
}

/** The parts of a run that are names and say whose: without titles. */
export function namesIn(context: NameContext, first: number, last: number): NameSpan[] {
  return trimTitles(context, first, last).filter((span) => saysWho(context, span));
}

/** Not so an initial, an office, or a compound by itself, and a common word whose capital is owed to where it stands, or rare. */
function saysWho(context: NameContext, { first, last, titled }: NameSpan): boolean {
  const { tokens, evidence, kinds } = context;
  const words = tokens.slice(first, last + 1);
  if (words.every(({ text }) => initial.test(text))) return words.length > 1;
  const isOffice = ({ lower }: TextToken) => honorifics.has(bare(lower)) || titleModifiers.has(lower) || lower === 'of';
  if (words.length > 1) return titled || !words.every(isOffice);
  const [{ lower, text, isFirst, line }] = words;
  if (isStopWord(context, words[0])) return false;
  const end = compoundEnd.exec(text);
  if (end !== null && (kinds.isCommon(end[1]) || kinds.kindsOf(end[1]).common > 0.9)) return false;
  if (acronym.test(text)) return true;
  // Word vectors are of English words.
  if (!evidence.isEnglish && evidence.lowercased(lower) > evidence.capitalized(lower)) return false;
  if (kinds.kindsOf(lower).common < 0.8) return true;
  if (isFirst || evidence.isHeadline(line)) return evidence.standsAlone(lower);
  return evidence.lowercased(lower) <= evidence.capitalized(lower);
}

/** A function word of a language other than English, which its capital may be owed to what is no beginning of a sentence in English. */
function isStopWord({ evidence }: NameContext, { text, lower, line }: TextToken): boolean {
  if (evidence.isEnglish || (acronym.test(text) && !evidence.isShouted(line))) return false;
  return stopWordsOf(evidence.language).has(lower);
}

function beginsName(context: NameContext, i: number): boolean {
  const { tokens, evidence, kinds } = context;
  const token = tokens[i];
  if (token.lower === 'the' || token.lower === 'a' || token.lower === 'an') return beginsWithArticle(context, i);
  if (countingWords.has(token.lower) && !continues(context, i + 1)) return false;
  if (!canBeInName(context, i)) return false;
  if (monthOfMay.test(token.lower) && /\d/.test(tokens[i + 1]?.text ?? '')) return false;
  const isHeadline = evidence.isHeadline(token.line);
  if (!token.isFirst && !isHeadline) return token.text.length > 1 || continues(context, i + 1);
  const saysNothing = evidence.isEnglish ? isHeadline : evidence.isShouted(token.line);
  if (acronym.test(token.text) && !saysNothing) return true;
  if (evidence.capitalized(token.lower) > 0) return isKnownName(context, token);
  if (honorifics.has(bare(token.lower)) && continues(context, i + 1)) return true;
  if (isKnownName(context, token)) return !evidence.isTitle(token.line) || beginsInTitle(context, i);
  if (isHeadline) return false;
  if (evidence.lowercased(token.lower) > 0 || !evidence.isEnglish) return false;
  const { common } = kinds.kindsOf(token.lower);
  if (token.pos === 'PROPN' && common < 0.5) return true;
  return continues(context, i + 1) && !kinds.isCommon(token.lower) && common < 0.9;
}

/**
 * A name by itself that the body has not, in a title: as a first word it may be any word (`Summit`), and behind another capital the
 * end of a name whose beginning nobody knows (`Zealand`).
 */
function beginsInTitle(context: NameContext, i: number): boolean {
  const { tokens, evidence } = context;
  if (isForeignGivenName(context, i)) {
    if (continues(context, i + 1) || (sameLine(context, i + 1) && isParticle(context, i + 1))) return true;
  }
  if (!evidence.isEnglish && countryNames(evidence.language).has(tokens[i].lower)) return true;
  if (tokens[i].isFirst) return continues(context, i + 1) && isKnownName(context, tokens[i + 1]);
  return !(continues(context, i) && canBeInName(context, i - 1));
}

/** A given name in a language other than English: where all nouns have capitals, the word behind it is the family's name. */
function isForeignGivenName({ tokens, evidence, kinds }: NameContext, i: number): boolean {
  return !evidence.isEnglish && kinds.phraseKind(tokens[i].lower) === 'given';
}

/** A word that the page has as a name elsewhere, or that is one by itself and not in lower case anywhere on the page. */
function isKnownName({ evidence, kinds }: NameContext, { lower }: TextToken): boolean {
  const lowercased = evidence.lowercased(lower);
  const capitalized = evidence.capitalized(lower);
  if (capitalized > 0) return capitalized * 3 > lowercased;
  // Word vectors are of English words.
  if (!evidence.isEnglish) {
    return lowercased === 0 && (kinds.phraseKind(lower) !== undefined || countryNames(evidence.language).has(lower));
  }
  const { given, family, place, organization, group } = kinds.kindsOf(lower);
  return lowercased === 0 && given + family + place + organization + group > 0.6;
}

/** `The Beatles` in mid-sentence: the article is a part of the name. */
function beginsWithArticle(context: NameContext, i: number): boolean {
  const token = context.tokens[i];
  return (
    token.isCapitalized && !token.isFirst && !context.evidence.isHeadline(token.line) && canBeInName(context, i + 1)
  );
}

/** The last token of the name that begins at `first`. */
function endOfName(context: NameContext, first: number): number {
  const { tokens } = context;
  let last = first;
  while (last - first < maxTokens) {
    const next = last + 1;
    if (next >= tokens.length || !sameLine(context, next)) break;
    const token = tokens[next];
    if (canBeInName(context, next)) {
      if (token.isFirst && tokens[last].text.length > 2) break;
      const isKnown = isKnownName(context, token) || isHead(token.lower) || isForeignGivenName(context, last);
      if (context.evidence.isTitle(token.line) && !isKnown) break;
      last = next;
      continue;
    }
    const lower = token.lower;
    const [one, two] = [continues(context, next + 1), continues(context, next + 2) && sameLine(context, next + 1)];
    if (token.text === '.' && initial.test(tokens[last].text) && one) last = next + 1;
    else if (numeral.test(token.text) && !isTimeBefore(tokens, next) && tokens[last].text.length > 1) {
      last = next;
      if (/^\d/.test(token.text) && !one) break;
    } else if (lower === '&' && one) last = next + 1;
    else if (isParticle(context, next) && token.pos !== 'CCONJ' && one && !token.isCapitalized) last = next + 1;
    else if (isParticle(context, next) && furtherParticle.test(tokens[next + 1]?.lower ?? '') && two) last = next + 2;
    else if (lower === 'of' && joinsByOf(context, first, last)) {
      if (one) last = next + 1;
      else if (tokens[next + 1]?.lower === 'the' && two) last = next + 2;
      else break;
    } else break;
  }
  return last;
}

function isParticle(context: NameContext, i: number): boolean {
  const { tokens, evidence } = context;
  if (!nameParticles.has(tokens[i]?.lower ?? '')) return false;
  if (evidence.isEnglish) return true;
  if (joiningParticles.has(tokens[i].lower)) return false;
  if (!evidence.isTitle(tokens[i].line)) return true;
  // Where all nouns have capitals, `der` and `den` are articles, but for `Angela von der Leyen`.
  const before = nameParticles.has(tokens[i - 1].lower);
  return before || (isForeignGivenName(context, i - 1) && !furtherParticle.test(tokens[i].lower));
}

function isHead(word: string): boolean {
  return orgHeads.has(word) || placeHeads.has(word) || eventHeads.has(word) || workHeads.has(word);
}

/** Whether `of` after the run goes on with the name: `University of Amsterdam`, but not `Ehud Barak of Israel`. */
function joinsByOf({ tokens, kinds }: NameContext, first: number, last: number): boolean {
  const head = tokens[last].lower;
  if (numeral.test(tokens[last].text)) return kinds.kindsOf(tokens[first].lower).given > 0.5;
  if (nobility.has(head)) return true;
  if (honorifics.has(bare(head)) || personNouns.has(head) || kinds.isActor(head)) return false;
  if (placeHeads.has(head) && !orgHeads.has(head)) {
    return tokens.slice(first, last).every(({ lower }) => kinds.kindsOf(lower).common > 0.5 || lower === 'the');
  }
  return isHead(head);
}

const unitAfter =
  /^(?:%|percent|per|million|billion|years?|months?|days?|hours?|minutes?|times|miles?|km|kilometers?|people|members|points|goals)$/;

function isTimeBefore(tokens: readonly TextToken[], i: number): boolean {
  return year.test(tokens[i].text) || unitAfter.test(tokens[i + 1]?.lower ?? '');
}
