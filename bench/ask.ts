/**
 * Answers in the words of pages, over the collections of ../shared/data/ir that have answers.jsonl, as JSON: the share of questions whose answer stands in the quoted sentences, at 1, 3 and 5
 * sentences, next to the first sentences of the first result (`baseline`); also with the questions of the other languages (`across`,
 * answers in the language of the pages). Questions off the topic, by the share that gets an answer: those of other collections
 * (`off_topic`), and those whose article is left out of the results (`left_out`). Questions are split by the lowest bit of the SHA-256 of
 * their ids: on half `a` choices are made (`--choose` prints them for other constants), half `b` is reported.
 * Usage: npm run bench -- ask [--vectors folder, where they are kept] [--data folder] [--queries n] [--choose] [collection …]
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { comparedPassages } from '../src/actors/search/ask.ts';
import { fuseScores } from '../src/compute/ranking/fuse-scores.ts';
import { createTextAnalyzer } from '../src/compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../src/compute/text/rule-tokenizer.ts';
import { porterStem } from '../src/compute/text/stemmers.ts';
import {
  comparedSentences,
  EVIDENCE,
  isAnswer,
  likelySentences,
  type Sentence,
  scoredSentences,
  sentencesOf,
  WEIGHTS,
} from '../src/engine/answer-sentences.ts';
import { createHighlighter } from '../src/engine/highlight.ts';
import { nearnessOf, relevance } from '../src/engine/relevance.ts';
import { wordsIn } from '../src/engine/words/spelling.ts';
import { openBenchEncoder } from './bench-encoder.ts';
import { describeMachine } from './machine.ts';
import { collectionNames, createQueryTools, type JudgedQuery, prepareCollection } from './quality/collections.ts';
import { askBoth, DIM, FLOOR, vectorsOf } from './quality/judged-lists.ts';
import { mean } from './quality/measures.ts';

const COUNTS = [1, 3, 5];
/** Paragraphs of one article, in a row. */
const perArticle = 5;
const offTopicQueries = 300;
const otherEvidence = [0.825, 0.83, 0.835, 0.84, 0.845, 0.85].flatMap((near) =>
  [0.05, 0.054, 0.058, 0.062, 0.066].map((least) => ({ ...EVIDENCE, near, least })),
);
const otherWeights = [0.08, 0.12, 0.16, 0.2].flatMap((words) =>
  [0.02, 0.04, 0.08, 0.12].map((passage) => ({ words, passage })),
);

const { values, positionals } = parseArgs({
  options: {
    data: { type: 'string', default: join(import.meta.dirname, '../../shared/data/ir') },
    vectors: { type: 'string' },
    queries: { type: 'string', default: '1190' },
    choose: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const { data } = values;
const folder = values.vectors ?? join(tmpdir(), 'readback-vectors');
const tools = createQueryTools();
const highlighter = createHighlighter(porterStem, createTextAnalyzer(createRuleTokenizer));
const readLines = (name: string, file: string) =>
  readFileSync(join(data, name, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Vectors of texts, made once. */
async function vectorsByText(
  name: string,
  kind: 'query' | 'sentence',
  texts: readonly string[],
): Promise<Map<string, Float32Array>> {
  const distinct = [...new Set(texts)];
  const digest = createHash('sha256').update(distinct.join('\n')).digest('hex').slice(0, 12);
  const file = join(folder, `${name}.${kind}-${digest}.f32`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const encoder = openBenchEncoder();
    try {
      const { rows } = await encoder.encode(distinct, kind);
      writeFileSync(file, Buffer.from(rows.buffer));
    } finally {
      await encoder.close();
    }
  }
  const bytes = readFileSync(file);
  const rows = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  return new Map(distinct.map((text, at) => [text, rows.subarray(at * DIM, (at + 1) * DIM)]));
}

/** Questions off the topic of the collections with answers. */
async function prepareQuestions(name: string, count: number) {
  const queries = spread<{ _id: string; text: string }>(readLines(name, 'queries.jsonl'), count);
  const vectors = await vectorsByText(
    name,
    'query',
    queries.map(({ text }) => text),
  );
  return queries.map(({ text }) => ({ text, vector: vectors.get(text) ?? new Float32Array(DIM) }));
}

async function prepare(name: string) {
  const texts = new Map<string, string>(readLines(name, 'corpus.jsonl').map(({ _id, text }) => [_id, text]));
  const collection = prepareCollection(data, name, Number(values.queries), tools);
  const vectors = await vectorsOf(data, folder, name);
  const sentences = [...texts.values()].flatMap((text) =>
    sentencesOf(text).map(({ start, end }) => text.slice(start, end)),
  );
  return {
    ...collection,
    texts,
    documents: vectors.documents,
    questions: collection.queries.map((query) => ({
      ...query,
      vector: vectors.ofQuery.get(query.id) ?? new Float32Array(DIM),
    })),
    sentences: await vectorsByText(name, 'sentence', sentences),
    answers: new Map<string, string[]>(readLines(name, 'answers.jsonl').map(({ _id, answers }) => [_id, answers])),
  };
}
type Prepared = Awaited<ReturnType<typeof prepare>>;
type Question = Pick<JudgedQuery, 'text'> & { vector: Float32Array };
type OwnQuestion = Prepared['questions'][number];

const names = collectionNames(data);
const answered = names.filter((name) => existsSync(join(data, name, 'answers.jsonl')));
const answering: Prepared[] = [];
for (const name of answered)
  if (positionals.length === 0 || positionals.includes(name)) answering.push(await prepare(name));
const others = names.filter((name) => !answered.includes(name));
const outside: Question[] = [];
for (const name of others) outside.push(...(await prepareQuestions(name, Math.ceil(offTopicQueries / others.length))));

interface Asked {
  /** Of the best passage. */
  relevance: number;
  firstText: string;
  sentences: Sentence[];
  cosines: number[];
}

/** As in src/actors/search/ask.ts; `without`: documents that are left out. */
function ask(collection: Prepared, { text, vector }: Question, without = new Set<string>()): Asked {
  const lists = askBoth(collection, { text }, vector, collection.documents, tools);
  const { sparse, dense, cosines, shares } = lists;
  const cosineOf = new Map(Array.from(dense.labels, (label, at) => [label, dense.scores[at]]));
  const coveredOf = new Map(Array.from(sparse.labels, (label, at) => [label, shares[at]]));
  for (const [at, label] of sparse.labels.entries()) cosineOf.set(label, cosines?.[at] ?? Number.NaN);
  const hits = fuseScores(lists, FLOOR)
    .filter(({ label }) => !without.has(collection.documentOf[label]))
    .slice(0, comparedPassages)
    .map(({ label, score }) => {
      const nearness = nearnessOf(cosineOf.get(label) ?? Number.NaN, FLOOR);
      const text = collection.texts.get(collection.documentOf[label]) ?? '';
      return { label, score, text, relevance: relevance({ covered: coveredOf.get(label) ?? 0, nearness }) };
    });
  const { forms } = tools.analyze({ query: text }, wordsIn(collection.corpus));
  const language = /-([a-z]{2})$/.exec(collection.name)?.[1] ?? 'en';
  const marked = highlighter.mark(
    hits.map(({ text }) => ({ text, language })),
    forms.filter(({ of }) => of >= 0).map(({ stem }) => stem),
  );
  const passages = hits.map(({ label, text, score }, at) => ({
    ...{ page: String(label), title: null, char_start: 0, text, score, highlights: marked[at].highlights },
  }));
  const sentences = likelySentences(text, passages);
  return {
    relevance: Math.max(0, ...hits.map((each) => each.relevance)),
    firstText: hits[0]?.text ?? '',
    sentences,
    cosines: sentences.map(({ text }) => dot(vector, collection.sentences.get(text) ?? new Float32Array(DIM))),
  };
}

function articleOf(collection: Prepared, { grades }: OwnQuestion): Set<string> {
  const documents = [...collection.texts.keys()];
  const articles = [...grades.keys()].map((id) => Math.floor(documents.indexOf(id) / perArticle));
  return new Set(documents.filter((_, at) => articles.includes(Math.floor(at / perArticle))));
}

interface Measured {
  half: 'a' | 'b';
  asked: Asked;
  answers: string[];
}

const measureOwn = (collection: Prepared, questions: readonly OwnQuestion[]): Measured[] =>
  questions.map((question) => ({
    half: halfOf(question.id),
    asked: ask(collection, question),
    answers: collection.answers.get(question.id) ?? [],
  }));

const isAnswered = ({ cosines, relevance, sentences }: Asked, evidence = EVIDENCE) =>
  sentences.length > 0 && isAnswer(cosines, relevance, evidence);

/** Whether an answer stands in the best sentences, at each count. `whatever`: also where the evidence is too little. */
function hitsOf({ asked, answers }: Measured, weights = WEIGHTS, whatever = false): number[] {
  const scored = whatever || isAnswered(asked) ? scoredSentences(asked.sentences, asked.cosines, weights) : [];
  return COUNTS.map((count) => {
    const texts = scored.slice(0, count).map(({ text }) => text);
    return Number(stands(texts.join('\n'), answers));
  });
}

function baselineOf({ asked: { firstText }, answers }: Measured): number[] {
  const sentences = sentencesOf(firstText).map(({ start, end }) => firstText.slice(start, end));
  return COUNTS.map((count) => Number(stands(sentences.slice(0, count).join('\n'), answers)));
}

const stands = (text: string, answers: readonly string[]) => answers.some((answer) => text.includes(answer));
const shares = (rows: readonly number[][]) =>
  Object.fromEntries(COUNTS.map((count, at) => [`at_${count}`, round(mean(rows.map((row) => row[at])))]));
const shown = (asked: readonly Asked[], evidence = EVIDENCE) =>
  round(mean(asked.map((each) => Number(isAnswered(each, evidence)))));

const report = answering.map((collection) => {
  const own = measureOwn(collection, collection.questions);
  const offTopic = outside.map((question) => ask(collection, question));
  const leftOut = spread(collection.questions, offTopicQueries).map((question) => ({
    half: halfOf(question.id),
    asked: ask(collection, question, articleOf(collection, question)),
  }));
  const leftOutOf = (half: 'a' | 'b') => leftOut.filter((row) => row.half === half).map(({ asked }) => asked);
  const halves = (['a', 'b'] as const).map((half) => {
    const rows = own.filter((row) => row.half === half);
    return [
      half,
      {
        questions: rows.length,
        quoted: shares(rows.map((row) => hitsOf(row))),
        quoted_whatever_evidence: shares(rows.map((row) => hitsOf(row, WEIGHTS, true))),
        baseline: shares(rows.map(baselineOf)),
        answered: shown(rows.map(({ asked }) => asked)),
        left_out: shown(leftOutOf(half)),
        ...(values.choose &&
          half === 'a' && {
            by_weights: otherWeights.map((weights) => ({
              ...weights,
              ...shares(rows.map((row) => hitsOf(row, weights, true))),
            })),
            by_evidence: otherEvidence.map((evidence) => ({
              ...evidence,
              answered: shown(
                rows.map(({ asked }) => asked),
                evidence,
              ),
              off_topic: shown(offTopic, evidence),
              left_out: shown(leftOutOf('a'), evidence),
            })),
          }),
      },
    ] as const;
  });
  const across = answering
    .filter((other) => other !== collection && familyOf(other) === familyOf(collection))
    .map((other) => {
      const questions = spread(other.questions, offTopicQueries).filter(({ id }) => halfOf(id) === 'b');
      const rows = measureOwn(collection, questions);
      return {
        questions_of: other.name,
        ...{ quoted: shares(rows.map((row) => hitsOf(row))) },
        quoted_whatever_evidence: shares(rows.map((row) => hitsOf(row, WEIGHTS, true))),
        answered: shown(rows.map(({ asked }) => asked)),
        left_out: shown(questions.map((question) => ask(collection, question, articleOf(collection, question)))),
      };
    });
  return { name: collection.name, ...Object.fromEntries(halves), off_topic: shown(offTopic), across };
});

console.log(
  JSON.stringify(
    {
      ...{ bench: 'ask', machine: describeMachine(), weights: WEIGHTS, evidence: EVIDENCE },
      ...{ passages: comparedPassages, sentences: comparedSentences, collections: report },
    },
    null,
    1,
  ),
);

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, each, i) => sum + each * b[i], 0);
}

/** So many of a list, evenly spread. */
function spread<Item>(list: readonly Item[], count: number): Item[] {
  if (list.length <= count) return [...list];
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]);
}

function familyOf({ name }: { name: string }): string {
  return name.split('-', 1)[0];
}

function halfOf(id: string): 'a' | 'b' {
  return (createHash('sha256').update(id).digest()[31] & 1) === 0 ? 'a' : 'b';
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
