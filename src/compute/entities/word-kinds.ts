/**
 * What kind of name a word is by itself: a given name, a family name, a place, an organisation, a people, or no name but a common
 * word. Compromise's lexicon knows some thousands of each; for all others a linear discriminant over word vectors, fitted to
 * those thousands, says how likely each kind is. Words are lower case.
 *
 * Without word vectors only the lexicon speaks. One per thread: fitting takes 0.3 s, and what was asked is remembered.
 */
import nlp from 'compromise/two';
import { readLevels, type WordVectors } from '../embedding/word-vectors.ts';
import { lookupTerm } from '../structures/term-table.ts';
import { fitDiscriminant } from './linear-discriminant.ts';

const nameKinds = ['given', 'family', 'place', 'organization', 'group', 'common'] as const;
export type NameKind = (typeof nameKinds)[number];
/** How likely each kind is; sums to 1, or all 0 for a word that nothing is known of. */
export type KindShares = Readonly<Record<NameKind, number>>;

export interface WordKinds {
  kindsOf(word: string): KindShares;
  /** What the lexicon has for a name of several words, or of one. */
  phraseKind(phrase: string): NameKind | undefined;
  /** Whether it may be a given name, beside something else: `bill`. */
  mayBeGiven(word: string): boolean;
  /** Whether this is what somebody does or is: `singer`. */
  isActor(word: string): boolean;
  isCommon(word: string): boolean;
}

const kindOfTag: Readonly<Record<string, NameKind>> = {
  MaleName: 'given',
  FemaleName: 'given',
  FirstName: 'given',
  LastName: 'family',
  Place: 'place',
  City: 'place',
  Region: 'place',
  Country: 'place',
  Organization: 'organization',
  SportsTeam: 'organization',
  Demonym: 'group',
};
const commonTag =
  /^(?:Adjective|Noun|Singular|Plural|PastTense|PresentTense|Infinitive|Gerund|Adverb|Actor|Uncountable|Comparative)$/;

const noKinds: KindShares = { given: 0, family: 0, place: 0, organization: 0, group: 0, common: 0 };
/** Share of the lexicon's word in what is said of a word that both know. */
const lexiconShare = 0.7;
/** Words that are remembered; a new memory is begun above. */
const maxRemembered = 100_000;

interface Entry {
  kinds: NameKind[];
  isActor: boolean;
  isCommon: boolean;
}

/** Errors: throws where the installed compromise has no lexicon of names. */
export function createWordKinds(vectors: WordVectors): WordKinds {
  const entries = readLexicon();
  const ambiguous = readAmbiguousNames();
  const discriminant = discriminantOf(entries, vectors);
  let remembered = new Map<string, KindShares>();

  const sharesOf = (word: string): KindShares => {
    const entry = entries.get(word);
    const known = entry === undefined ? null : sharesOfEntry(entry);
    const guessed = discriminant(word);
    if (known === null) return guessed ?? noKinds;
    if (guessed === null) return known;
    const mixed = nameKinds.map((kind) => [kind, lexiconShare * known[kind] + (1 - lexiconShare) * guessed[kind]]);
    return Object.fromEntries(mixed) as Record<NameKind, number>;
  };

  return {
    kindsOf: (word) => {
      let shares = remembered.get(word);
      if (shares === undefined) {
        if (remembered.size >= maxRemembered) remembered = new Map();
        shares = sharesOf(word);
        remembered.set(word, shares);
      }
      return shares;
    },
    phraseKind: (phrase) => entries.get(phrase)?.kinds[0],
    mayBeGiven: (word) => ambiguous.has(word) || (entries.get(word)?.kinds.includes('given') ?? false),
    isActor: (word) => entries.get(word)?.isActor ?? false,
    isCommon: (word) => entries.get(word)?.isCommon ?? false,
  };
}

function readLexicon(): Map<string, Entry> {
  const lexicon = (nlp.model() as { one?: { lexicon?: Record<string, string | string[]> } }).one?.lexicon;
  if (lexicon === undefined) throw new Error('the installed compromise has no lexicon');
  const entries = new Map<string, Entry>();
  for (const [word, tagged] of Object.entries(lexicon)) {
    const tags = typeof tagged === 'string' ? [tagged] : tagged;
    const kinds = [...new Set(tags.flatMap((tag) => kindOfTag[tag] ?? []))];
    const isCommon = tags.some((tag) => commonTag.test(tag));
    if (kinds.length > 0 || isCommon) entries.set(word, { kinds, isActor: tags.includes('Actor'), isCommon });
  }
  for (const kind of ['given', 'family', 'place', 'organization', 'group'] as const) {
    const some = [...entries.values()].some(({ kinds }) => kinds.includes(kind));
    if (!some) throw new Error(`the installed compromise has no names of the kind ${kind}`);
  }
  return entries;
}

/** Common words that people are called, too. */
function readAmbiguousNames(): ReadonlySet<string> {
  const switches = (nlp.model() as { two?: { switches?: Record<string, string> } }).two?.switches;
  const names = Object.entries(switches ?? {}).flatMap(([word, kinds]) => (kinds.startsWith('Person|') ? [word] : []));
  if (names.length === 0) throw new Error('the installed compromise has no words that may be names');
  return new Set(names);
}

function sharesOfEntry({ kinds, isCommon }: Entry): KindShares {
  const all: readonly NameKind[] = isCommon ? [...kinds, 'common'] : kinds;
  return { ...noKinds, ...Object.fromEntries(all.map((kind) => [kind, 1 / all.length])) };
}

/** Fitted to the words of one kind alone. Gives null for a word without a vector. */
function discriminantOf(
  entries: ReadonlyMap<string, Entry>,
  vectors: WordVectors,
): (word: string) => KindShares | null {
  const { dim, vocabulary, scales } = vectors;
  const levels = new Int8Array(dim);
  const vectorOf = (word: string): Float64Array | null => {
    const id = lookupTerm(vocabulary, word);
    if (id < 0 || scales[id] === 0) return null;
    readLevels(vectors, id, levels);
    const vector = Float64Array.from(levels);
    let squares = 0;
    for (let k = 0; k < dim; k++) squares += vector[k] ** 2;
    const norm = Math.sqrt(squares);
    for (let k = 0; k < dim; k++) vector[k] /= norm;
    return vector;
  };
  const samples: Float64Array[][] = nameKinds.map(() => []);
  for (const [word, entry] of entries) {
    const kind = entry.kinds.length === 0 ? 'common' : entry.kinds[0];
    if (word.includes(' ') || entry.kinds.length > 1 || (entry.isCommon && entry.kinds.length > 0)) continue;
    const vector = vectorOf(word);
    if (vector !== null) samples[nameKinds.indexOf(kind)].push(vector);
  }
  const classify = fitDiscriminant(samples, dim);
  return (word) => {
    const vector = vectorOf(word);
    if (vector === null) return null;
    const shares = classify(vector);
    return Object.fromEntries(nameKinds.map((kind, at) => [kind, shares[at]])) as Record<NameKind, number>;
  };
}
