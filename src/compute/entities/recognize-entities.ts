/**
 * The recogniser: names of people, organisations, places, works and products, events and peoples in an English text, with exact
 * dates and sums of money, each with every place where it is mentioned. docs/entities.md says how it decides.
 *
 * A recogniser holds a language model (40 MB): one per thread. Any string is a safe input; time is linear in the text, some
 * 8 ms for 1,000 words once warm.
 */
import { detectLanguage } from '../text/detect-language.ts';
import { findNames } from './find-names.ts';
import { correctNames, type NameTagger } from './name-tagger.ts';
import type { NameContext, NameSpan } from './name-words.ts';
import { weighPage } from './page-evidence.ts';
import { pageLanguage, withoutEndings } from './page-language.ts';
import { createTextReader } from './read-tokens.ts';
import { splitNames } from './split-names.ts';
import { addScores, bestType, type namedTypes, scoreForm, scoreMention, type TypeScores } from './type-names.ts';
import type { WordKinds } from './word-kinds.ts';

export type EntityType = (typeof namedTypes)[number] | 'date' | 'amount';

export interface EntityMention {
  /** UTF-16 offsets. */
  start: number;
  end: number;
}

export interface RecognizedEntity {
  /** The fullest form that the page has of it. */
  name: string;
  type: EntityType;
  /** In text order. */
  mentions: EntityMention[];
}

/** Longer texts are read so far, UTF-16 units: some 80,000 words. */
const maxReadLength = 500_000;
/** Entities of one page; of more, the most mentioned are kept. */
const maxEntities = 500;
/** Longer ones are no names. */
const maxNameLength = 200;

/** `isTitled`: the first line is the page's title. */
export type EntityRecognizer = (text: string, isTitled?: boolean) => RecognizedEntity[];

interface Name {
  key: string;
  words: string[];
  scores: TypeScores;
  spans: NameSpan[];
}

export function createEntityRecognizer(kinds: WordKinds, tagger: NameTagger): EntityRecognizer {
  const read = createTextReader();
  return (text, isTitled = false) => {
    const { tokens: whole, values } = read(text.slice(0, maxReadLength));
    const language = pageLanguage(whole, detectLanguage(text));
    const tokens = withoutEndings(whole, language);
    const context: NameContext = { tokens, evidence: weighPage(tokens, language, isTitled ? 0 : -1), kinds };
    const spans = splitNames(context, correctNames(tagger, context, findNames(context)));
    const names = gatherNames(context, spans);
    const placeOf = ({ first, last }: NameSpan) => ({ start: tokens[first].start, end: tokens[last].end });
    const named: RecognizedEntity[] = joinNames(context, names).map(({ name, type, spans }) => ({
      name: surfaceOf(text, placeOf(name)),
      type,
      mentions: spans.map(placeOf).sort((a, b) => a.start - b.start),
    }));
    return mostMentioned([...named, ...gatherValues(text, values)]);
  };
}

function surfaceOf(text: string, { start, end }: EntityMention): string {
  return text.slice(start, end).replace(/\s+/g, ' ');
}

/** In the order of their first mentions. */
function mostMentioned(found: readonly RecognizedEntity[]): RecognizedEntity[] {
  const named = found.filter(({ name }) => name.length <= maxNameLength);
  const kept = named.sort((a, b) => b.mentions.length - a.mentions.length || a.mentions[0].start - b.mentions[0].start);
  return kept.slice(0, maxEntities).sort((a, b) => a.mentions[0].start - b.mentions[0].start);
}

function gatherNames(context: NameContext, spans: readonly NameSpan[]): Map<string, Name> {
  const names = new Map<string, Name>();
  for (const span of spans) {
    const words = context.tokens.slice(span.first, span.last + 1).map(({ lower }) => lower);
    const key = words.join(' ');
    let name = names.get(key);
    if (name === undefined) {
      name = { key, words, scores: scoreForm(context, span), spans: [] };
      names.set(key, name);
    }
    addScores(name.scores, scoreMention(context, span));
    name.spans.push(span);
  }
  return names;
}

interface JoinedName {
  name: NameSpan;
  type: (typeof namedTypes)[number];
  spans: NameSpan[];
}

/**
 * A single name that is a part of one full name of a person on the page is that person; the full name's type is also its own. A family name
 * of several is that of the first of them where the others are named in full only after it stood alone, or are other forms of the same name.
 */
function joinNames({ kinds }: NameContext, names: Map<string, Name>): JoinedName[] {
  const fullNames = new Map<string, Name[]>();
  for (const name of names.values()) {
    if (name.words.length < 2 || name.words.length > 5 || bestType(name.scores) !== 'person') continue;
    for (const word of new Set([name.words[0], name.words[name.words.length - 1]])) {
      fullNames.set(word, [...(fullNames.get(word) ?? []), name]);
    }
  }
  const joined = new Map<Name, JoinedName>();
  const partOf = new Map<Name, Name>();
  for (const name of names.values()) {
    if (name.words.length > 1) continue;
    const candidates = fullNames.get(name.words[0]);
    if (candidates === undefined) continue;
    const full = personOf(name, candidates);
    const place = name.scores.place - name.scores.person;
    if (place > 2 && kinds.kindsOf(name.words[0]).place > 0.5) continue;
    if (full !== null) partOf.set(name, full);
    else name.scores.person += 1.5;
  }
  for (const name of names.values()) {
    if (partOf.has(name)) continue;
    joined.set(name, { name: name.spans[0], type: bestType(name.scores), spans: [...name.spans] });
  }
  for (const [part, full] of partOf) joined.get(full)?.spans.push(...part.spans);
  return [...joined.values()];
}

/** Of the full names that a single name is a part of, the one that it stands for; null where that cannot be told. */
function personOf(single: Name, candidates: readonly Name[]): Name | null {
  if (candidates.length === 1) return candidates[0];
  const family = candidates.filter(({ words }) => words[words.length - 1] === single.words[0]);
  const [first, ...others] = family.sort((a, b) => a.spans[0].first - b.spans[0].first);
  if (first === undefined) return null;
  const isKnownBefore = ({ spans }: Name) => spans[0].first < single.spans[0].first;
  const isForm = ({ words }: Name) => words[0][0] === first.words[0][0];
  const isLater = (other: Name) => !isKnownBefore(other) && other.spans.length < first.spans.length;
  return others.every((other) => isForm(other) || isLater(other)) ? first : null;
}

function gatherValues(
  text: string,
  values: readonly { type: 'date' | 'amount'; start: number; end: number }[],
): RecognizedEntity[] {
  const found = new Map<string, RecognizedEntity>();
  for (const { type, start, end } of values) {
    const name = surfaceOf(text, { start, end });
    const key = `${type} ${name.toLowerCase()}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { name, type, mentions: [{ start, end }] });
    else known.mentions.push({ start, end });
  }
  return [...found.values()];
}
