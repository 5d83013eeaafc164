/**
 * The synthetic reading history that the index benches share: chunks with a topic, Zipf-distributed background words and a
 * vector near the topic's centre; queries of the same kind. Every chunk and query has a random stream of its own, derived
 * from (seed, kind, number), so that chunk 17 is the same at every size and may be made on any thread.
 * Words are three syllables and a final x: no language's stemmer changes them, so text and terms agree whichever language they are taken for.
 */
import { seededRandom } from '../src/compute/seeded-random.ts';

export interface WorkloadOptions {
  seed: number;
  /** Words of a chunk; 30 % of them from its topic. */
  wordsPerChunk?: number;
  /** Dimensions of the vectors. */
  dim?: number;
  /** Distinct words in the order of their frequency, instead of the invented ones. */
  vocabulary?: readonly string[];
}

export interface WorkloadQuery {
  topic: number;
  words: string[];
}

export interface Workload {
  /** The topic of a chunk, 0..199. */
  topicOf(chunk: number): number;
  /** The words of a chunk, in order. */
  chunkWords(chunk: number): string[];
  /** A query of 3 distinct words of one topic and 2 distinct background words. */
  query(number: number): WorkloadQuery;
  /** Unit vector of a chunk: topic centre N(0, 1) per dimension + 1.2 · N(0, 1), normalised. */
  chunkVector(chunk: number): Float32Array;
  /** Unit vector of a query, made as a chunk's of the same topic is. */
  queryVector(number: number): Float32Array;
}

const VOCABULARY = 60_000;
const TOPICS = 200;
const TOPIC_WORDS = 250;
const TOPIC_SHARE = 0.3;
const VECTOR_NOISE = 1.2;
/** The most frequent words belong to no topic. */
const FIRST_TOPIC_RANK = 100;

type Random = () => number;
const STREAM = { topicWords: 1, topicCentre: 2, chunk: 3, query: 4, chunkVector: 5, queryVector: 6 } as const;

/** Open the workload of a seed. Same options, same chunks, queries and vectors. */
export function openWorkload({ seed, wordsPerChunk = 200, dim = 100, vocabulary }: WorkloadOptions): Workload {
  const words = vocabulary ?? Array.from({ length: VOCABULARY }, (_, rank) => wordOfRank(rank));
  const zipf = zipfSampler(words.length);
  const topics = Array.from({ length: TOPICS }, (_, topic) =>
    topicWords(words.length, randomStream(seed, STREAM.topicWords, topic)),
  );
  const centres = Array.from({ length: TOPICS }, (_, topic) =>
    gaussians(randomStream(seed, STREAM.topicCentre, topic), dim),
  );
  const topicOf = (chunk: number): number => Math.floor(randomStream(seed, STREAM.chunk, chunk)() * TOPICS);
  const topicWord = (topic: number, random: Random): string => words[topics[topic][favourLow(TOPIC_WORDS, random)]];

  function query(number: number): WorkloadQuery {
    const random = randomStream(seed, STREAM.query, number);
    const topic = Math.floor(random() * TOPICS);
    const chosen = new Set<string>();
    while (chosen.size < 3) chosen.add(topicWord(topic, random));
    while (chosen.size < 5) chosen.add(words[zipf(random())]);
    return { topic, words: [...chosen] };
  }

  return {
    topicOf,
    chunkWords(chunk) {
      const random = randomStream(seed, STREAM.chunk, chunk);
      const topic = Math.floor(random() * TOPICS);
      return Array.from({ length: wordsPerChunk }, () =>
        random() < TOPIC_SHARE ? topicWord(topic, random) : words[zipf(random())],
      );
    },
    query,
    chunkVector: (chunk) => near(centres[topicOf(chunk)], randomStream(seed, STREAM.chunkVector, chunk)),
    queryVector: (number) => near(centres[query(number).topic], randomStream(seed, STREAM.queryVector, number)),
  };
}

/** A random stream of its own for (seed, kind, number). */
export const randomStream = (seed: number, kind: number, number: number): Random =>
  seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(kind, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35));

function wordOfRank(rank: number): string {
  const consonants = 'bcdfghjklmnprtvz';
  const vowels = 'aou';
  let word = '';
  for (let rest = rank, syllable = 0; syllable < 3; syllable++, rest = Math.floor(rest / 48)) {
    word += consonants[Math.floor((rest % 48) / 3)] + vowels[rest % 3];
  }
  return `${word}x`;
}

/** Maps a uniform number to a rank with probability proportional to 1 / (rank + 1). */
function zipfSampler(size: number): (uniform: number) => number {
  const cumulative = new Float64Array(size);
  let sum = 0;
  for (let rank = 0; rank < size; rank++) {
    sum += 1 / (rank + 1);
    cumulative[rank] = sum;
  }
  return (uniform) => {
    const target = uniform * sum;
    let low = 0;
    let high = size - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (cumulative[middle] > target) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

/** Distinct ranks, the topic's own order of importance. */
function topicWords(vocabulary: number, random: Random): number[] {
  const ranks = new Set<number>();
  while (ranks.size < TOPIC_WORDS) {
    ranks.add(FIRST_TOPIC_RANK + Math.floor(random() * (vocabulary - FIRST_TOPIC_RANK)));
  }
  return [...ranks];
}

/** An index below `size`, low ones favoured: density proportional to 1 / sqrt(index). */
function favourLow(size: number, random: Random): number {
  const uniform = random();
  return Math.floor(size * uniform * uniform);
}

export function gaussians(random: Random, count: number): Float64Array {
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    values[i] = radius * Math.cos(2 * Math.PI * random());
  }
  return values;
}

function near(centre: Float64Array, random: Random): Float32Array {
  const vector = Float32Array.from(gaussians(random, centre.length), (noise, i) => centre[i] + VECTOR_NOISE * noise);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
