/** Entry of the entity thread: recognising, and finding names of one entity. The recogniser is made at the first task. */
import { openWordVectors } from '../compute/embedding/word-vectors.ts';
import { findMerges as find, type MergeThresholds } from '../compute/entities/find-merges.ts';
import { gatherMentions, type MentionedName } from '../compute/entities/gather-mentions.ts';
import type { NameTagger } from '../compute/entities/name-tagger.ts';
import { type PackedNames, unpackNames } from '../compute/entities/packed-names.ts';
import { createEntityRecognizer, type EntityRecognizer } from '../compute/entities/recognize-entities.ts';
import { titledText } from '../compute/entities/titled-text.ts';
import { createWordKinds, type WordKinds } from '../compute/entities/word-kinds.ts';
import { threadData } from './thread-pool.ts';

export interface EntityThreadData {
  wordVectors: SharedArrayBuffer;
  nameTagger: NameTagger;
}

let kinds: WordKinds | undefined;
let recognizer: EntityRecognizer | undefined;

function wordKinds(): WordKinds {
  const { wordVectors } = threadData<EntityThreadData>();
  kinds ??= createWordKinds(openWordVectors(wordVectors));
  return kinds;
}

/** The names that a page has in its title and its body. */
export function recognize({ title, body }: { title: string | null; body: string }): MentionedName[] {
  recognizer ??= createEntityRecognizer(wordKinds(), threadData<EntityThreadData>().nameTagger);
  const { text, bodyAt } = titledText(title, body);
  return gatherMentions(text, recognizer(text, bodyAt > 0), bodyAt);
}

/** Pairs of numbers in turn, best first, of which at least one is above `after`. The names ascend by number. */
export function findMerges({
  names,
  after,
  thresholds,
}: {
  names: readonly PackedNames[];
  after: number;
  thresholds: MergeThresholds;
}): Uint32Array {
  const found = find(unpackNames(names), thresholds, wordKinds(), after);
  return Uint32Array.from(found.flatMap(({ a, b }) => [a, b]));
}
