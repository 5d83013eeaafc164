/**
 * The reranking stage of a searcher thread alone, in process, over segments as a running service has them: ms per query, wall
 * and processor. Prints JSON; `checksum` is equal while the scores are.
 * `node --import ./scripts/tsx-in-threads.mjs bench/rerank-stage.ts english|invented`
 */

import { lookupTerm } from '../src/compute/structures/term-table.ts';
import { createTextAnalyzer } from '../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../src/compute/text/wink-tokenizer.ts';
import { candidateRerankers } from '../src/engine/rerank/rerank-candidates.ts';
import { buildSegmentOfTerms } from '../src/engine/words/build-segment.ts';
import { corpusSegment, eachAWord, planQuery } from '../src/engine/words/corpus.ts';
import { createDeletions } from '../src/engine/words/deletions.ts';
import { createScratch, searchSegments } from '../src/engine/words/search-segments.ts';
import { labelSegment } from '../src/engine/words/segment.ts';
import { englishWords, loadBenchVectors } from './english-words.ts';
import { latency } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { openWorkload, randomStream } from './workload.ts';

const seed = 42;
const words = process.argv[2] ?? 'english';
const sizes = [16384, 4096, 4096, 512, 512, 512, 64, 64, 64, 64, 3, 3, 3];
const vectors = loadBenchVectors();
const workload = openWorkload({
  seed,
  wordsPerChunk: 333,
  ...(words === 'english' ? { vocabulary: englishWords(vectors, 60_000) } : {}),
});
const analyzer = createTextAnalyzer(createWinkTokenizer);
let label = 0;
const topics: number[][] = Array.from({ length: 200 }, () => []);
const corpus = sizes.map((size, id) => {
  analyzer.trim();
  const { lexicon } = analyzer.analyze('');
  const first = label;
  const documents = Array.from({ length: size }, () => {
    topics[workload.topicOf(label)].push(label);
    const chunk = workload.chunkWords(label++);
    return {
      title: analyzer.analyze(chunk.slice(0, 6).join(' ')).terms.slice(),
      section: new Uint32Array(0),
      body: analyzer.analyze(chunk.join(' ')).terms.slice(),
    };
  });
  const segment = buildSegmentOfTerms(lexicon, documents, {
    fingerprint: vectors.fingerprint,
    rowOf: (word) => lookupTerm(vectors.vocabulary, word),
  });
  labelSegment(
    segment,
    Uint32Array.from({ length: size }, (_, i) => first + i),
  );
  return corpusSegment(id, segment, createDeletions(segment.docs));
});
const scratch = createScratch();
const { score: rerank } = candidateRerankers(vectors)();
const random = randomStream(seed, 77, 0);
const requests = Array.from({ length: 300 }, (_, number) => {
  const query = workload.query(number);
  const { words: forms, stems } = analyzer.terms(query.words.join(' '));
  const asked = eachAWord(stems);
  const sparse = searchSegments(corpus, planQuery(corpus, asked), 100, scratch);
  const of = topics[query.topic];
  const labels = new Set(sparse.labels);
  for (let i = 0; i < 100 && of.length > 0; i++) labels.add(of[Math.floor(random() * of.length)]);
  return {
    forms: asked.map((word, i) => ({ ...word, row: lookupTerm(vectors.vocabulary, forms[i]) })),
    candidates: {
      labels: Uint32Array.from(labels),
      cosine: Float32Array.from(labels, () => random()),
      wordCosine: Float32Array.from(labels, () => random()),
      outsideModel: false,
    },
  };
});
const run = () =>
  requests.map(({ forms, candidates }) => {
    const began = performance.now();
    const scores = rerank(corpus, forms, candidates);
    return { ms: performance.now() - began, scores };
  });
const cold = run();
const cpuBefore = process.cpuUsage();
const times = [1, 2, 3].map(() => run());
const { user, system } = process.cpuUsage(cpuBefore);
const warm = requests.map((_, i) => Math.min(...times.map((each) => each[i].ms)));
let sum = 0;
for (const { scores } of cold) for (const [i, score] of scores?.entries() ?? []) sum += score * ((i % 7) + 1);
console.log(
  JSON.stringify({
    bench: 'rerank-stage',
    seed,
    words,
    machine: describeMachine(),
    candidates: requests.reduce((total, { candidates }) => total + candidates.labels.length, 0) / requests.length,
    first_time: latency(cold.map(({ ms }) => ms)),
    best_of_three: latency(warm),
    cpu_per_query: Math.round((user + system) / 3 / requests.length) / 1000,
    checksum: sum,
  }),
);
