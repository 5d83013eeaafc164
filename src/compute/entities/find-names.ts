/**
 * Where names are: runs of capitalised words, with the particles, numbers and joining words that belong inside names. A capital at
 * the beginning of a sentence or in a headline counts only where the page or the lexicon knows the word as a name.
 */
import {
  countingWords,
  eventHeads,
  heldEvents,
  honorifics,
  listHeads,
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
import { electionAt, quotedTitleAt } from './special-names.ts';
import { trimTitles } from './trim-titles.ts';

/** Between the parts of an award's name. */
const awardJoins: ReadonlySet<string> = new Set(['for', 'in', 'or']);
const monthOfMay = /^may$/;
const numeral = /^(?:[IVX]+|\d{1,4}(?:st|nd|rd|th)?)$/;
const possessive = /^(?:['’]s|s?['’])$/;
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
    const election = electionAt(context, i);
    if (election > i) {
      spans.push({ first: i, last: election, titled: false, isEvent: true });
      i = election + 1;
      continue;
    }
    const quoted = quotedTitleAt(context, i);
    if (quoted > i) {
      const last = /^[,.;:]$/.test(tokens[quoted - 1].text) ? quoted - 2 : quoted - 1;
      spans.push({ first: i + 1, last, titled: false, isEvent: false });
      i = quoted + 1;
      continue;
    }
    const dated = datedEventAt(context, i);
    if (dated > i) {
      spans.push({ first: i, last: dated, titled: false, isEvent: true });
      i = dated + 1;
      continue;
    }
    if (!beginsName(context, i)) {
      i++;
      continue;
    }
    const last = endOfName(context, i);
    spans.push(...trimTitles(context, i, last).filter((span) => saysWho(context, span)));
    i = last + 1;
  }
  return spans;
}

const ordinal = /^\d{1,3}(?:st|nd|rd|th)$/;

/** `2012 Summer Olympics`, `89th Academy Awards`: the last token of such an event that begins at i, or -1. */
function datedEventAt(context: NameContext, i: number): number {
  const { text } = context.tokens[i];
  if (!(year.test(text) || ordinal.test(text)) || !continues(context, i + 1)) return -1;
  const last = endOfName(context, i + 1);
  let head = i + 1;
  while (head < last && context.tokens[head + 1].isCapitalized) head++;
  return heldEvents.has(context.tokens[head].lower) ? last : -1;
}

/** Not so an initial, an office, or a compound by itself, and a common word whose capital is owed to where it stands, or rare. */
function saysWho({ tokens, evidence, kinds }: NameContext, { first, last, titled }: NameSpan): boolean {
  const words = tokens.slice(first, last + 1);
  if (words.every(({ text }) => initial.test(text))) return words.length > 1;
  const isOffice = ({ lower }: TextToken) => honorifics.has(bare(lower)) || titleModifiers.has(lower) || lower === 'of';
  if (words.length > 1) return titled || !words.every(isOffice);
  const [{ lower, text, isFirst, line }] = words;
  const end = compoundEnd.exec(text);
  if (end !== null && (kinds.isCommon(end[1]) || kinds.kindsOf(end[1]).common > 0.9)) return false;
  if (acronym.test(text) || kinds.kindsOf(lower).common < 0.8) return true;
  if (isFirst || evidence.isHeadline(line)) return evidence.standsAlone(lower);
  return evidence.lowercased(lower) <= evidence.capitalized(lower);
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
  if (acronym.test(token.text) && !isHeadline) return true;
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
  const { tokens } = context;
  if (tokens[i].isFirst) return continues(context, i + 1) && isKnownName(context, tokens[i + 1]);
  return !(continues(context, i) && canBeInName(context, i - 1));
}

/** A word that the page has as a name elsewhere, or that is one by itself and not in lower case anywhere on the page. */
function isKnownName({ evidence, kinds }: NameContext, { lower }: TextToken): boolean {
  const lowercased = evidence.lowercased(lower);
  const capitalized = evidence.capitalized(lower);
  if (capitalized > 0) return capitalized * 3 > lowercased;
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
      if (context.evidence.isTitle(token.line) && !isKnownName(context, token) && !isHead(token.lower)) break;
      last = next;
      continue;
    }
    const lower = token.lower;
    const [one, two] = [continues(context, next + 1), continues(context, next + 2)];
    const previous = tokens[last].lower;
    if (token.text === '.' && initial.test(tokens[last].text) && one) last = next + 1;
    else if (numeral.test(token.text) && !isTimeBefore(tokens, next) && tokens[last].text.length > 1) {
      last = next;
      if (/^\d/.test(token.text) && !one) break;
    } else if (year.test(token.text) && heldEvents.has(previous) && !tokens[last].isFirst) {
      last = next;
      break;
    } else if (lower === '&' && one) last = next + 1;
    else if (awardJoins.has(lower) && holdsAward(tokens, first, last) && (one || two)) {
      if (one && !(lower === 'in' && context.kinds.kindsOf(tokens[next + 1].lower).place > 0.5)) last = next + 1;
      else if (!one && /^(?:for|in)$/.test(lower) && /^(?:a|an|the)$/.test(tokens[next + 1].lower)) last = next + 2;
      else break;
    } else if (nameParticles.has(lower) && token.pos !== 'CCONJ' && one && !token.isCapitalized) last = next + 1;
    else if (nameParticles.has(lower) && furtherParticle.test(tokens[next + 1]?.lower ?? '') && two) last = next + 2;
    else if (lower === 'of' && joinsByOf(context, first, last)) {
      if (one) last = next + 1;
      else if (tokens[next + 1]?.lower === 'the' && two) last = next + 2;
      else break;
    } else if (lower === 'for' && (listHeads.has(previous) || orgHeads.has(previous))) {
      if (one) last = next + 1;
      else if (tokens[next + 1]?.lower === 'the' && two) last = next + 2;
      else break;
    } else if (possessive.test(token.text) && one && isPeoples(context, last) && isHead(tokens[next + 1].lower))
      last = next + 1;
    else if (
      lower === 'and' &&
      one &&
      !orgHeads.has(tokens[next + 1].lower) &&
      (holdsListHead(tokens, first, last) || isDoubleHead(context, first, next))
    ) {
      last = next + 1;
    } else break;
  }
  return last;
}

/** `Academy Award for Best Picture`, `Nobel Prize in Physiology or Medicine`: an award, and what it is for. */
function holdsAward(tokens: readonly TextToken[], first: number, last: number): boolean {
  const isAward = (i: number) => /^(?:awards?|prize|medal)$/.test(tokens[i].lower);
  if (isAward(last)) return last > first && tokens[last + 1].lower !== 'or';
  for (let i = first + 1; i < last; i++) if (isAward(i) && /^(?:for|in|of)$/.test(tokens[i + 1].lower)) return true;
  return false;
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
  if (isHead(head)) return true;
  const { common, place, group } = kinds.kindsOf(head);
  return common > 0.5 && place < 0.3 && group < 0.3;
}

/** The name holds `X of` or `X for`, where X often has a list after it. */
function holdsListHead(tokens: readonly TextToken[], first: number, last: number): boolean {
  for (let i = first + 1; i <= last; i++) {
    const { lower } = tokens[i];
    const head = tokens[i - 1].lower;
    if ((lower === 'of' && listHeads.has(head)) || (lower === 'for' && (listHeads.has(head) || orgHeads.has(head))))
      return true;
  }
  return false;
}

/** `Social Democratic and Labour Party`: common words on both sides of `and`, and the head of an organisation at the end. */
function isDoubleHead(context: NameContext, first: number, and: number): boolean {
  const { tokens, kinds } = context;
  let end = and + 1;
  while (continues(context, end + 1) && end - and < 4) end++;
  if (end === and + 1 || !orgHeads.has(tokens[end].lower) || orgHeads.has(tokens[and - 1].lower)) return false;
  for (let i = first; i < end; i++) {
    const { given, family, place } = kinds.kindsOf(tokens[i].lower);
    if (given + family + place > 0.5) return false;
  }
  return true;
}

/** `People's`, `Workers'`: those whose the republic or the party is. */
function isPeoples({ tokens, kinds }: NameContext, i: number): boolean {
  return kinds.kindsOf(tokens[i].lower).common > 0.5;
}

const unitAfter =
  /^(?:%|percent|per|million|billion|years?|months?|days?|hours?|minutes?|times|miles?|km|kilometers?|people|members|points|goals)$/;

function isTimeBefore(tokens: readonly TextToken[], i: number): boolean {
  return year.test(tokens[i].text) || unitAfter.test(tokens[i + 1]?.lower ?? '');
}
