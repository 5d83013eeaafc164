/** Entry of the entity thread: recognising, and finding names of one entity. The recogniser is made at the first task. */
import {
  findMerges as find,
  type MergeCandidate,
  type MergeThresholds,
  type NamedEntity,
} from '../compute/entities/find-merges.ts';
import {
  createEntityRecognizer,
  type EntityRecognizer,
  type RecognizedEntity,
} from '../compute/entities/recognize-entities.ts';
import { createWordKinds, type WordKinds } from '../compute/entities/word-kinds.ts';
import { openWordVectors } from '../compute/word-vectors.ts';
import { threadData } from './thread-pool.ts';

export interface EntityThreadData {
  /** Word vectors, or null: the lexicon alone speaks. */
  wordVectors: SharedArrayBuffer | null;
}

let kinds: WordKinds | undefined;
let recognizer: EntityRecognizer | undefined;

function wordKinds(): WordKinds {
  const { wordVectors } = threadData<EntityThreadData>();
  kinds ??= createWordKinds(wordVectors === null ? null : openWordVectors(wordVectors));
  return kinds;
}

export function recognize(text: string): RecognizedEntity[] {
  recognizer ??= createEntityRecognizer(wordKinds());
  return recognizer(text);
}

export function findMerges({
  entities,
  thresholds,
}: {
  entities: readonly NamedEntity[];
  thresholds: MergeThresholds;
}): MergeCandidate[] {
  return find(entities, thresholds, wordKinds());
}
