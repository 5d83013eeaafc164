/** The ranking collections of ../shared/data/ir as segments in memory, each document as one chunk whose label is its place. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTextAnalyzer, type TextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { loadDetectors } from '../../src/compute/text/page-languages.ts';
import { createRuleTokenizer } from '../../src/compute/text/rule-tokenizer.ts';
import { createWinkTokenizer } from '../../src/compute/text/wink-tokenizer.ts';
import { createQueryAnalyzer, type QueryAnalyzer } from '../../src/engine/analyze-query.ts';
import { preparePages } from '../../src/engine/prepare-page.ts';
import { type CorpusSegment, corpusSegment } from '../../src/engine/words/corpus.ts';
import { createDeletions, labelSegment, openSegment } from '../../src/engine/words/segment.ts';
import { loadWordList, openWordList, type WordList } from '../../src/engine/words/word-list.ts';

await loadDetectors();

/** No document is longer. */
const oneChunk = { target_tokens: 1_000_000, overlap_tokens: 0, hard_max_tokens: 1_000_000 };

export interface JudgedQuery {
  id: string;
  text: string;
  /** Grades above 0 by document id. */
  grades: ReadonlyMap<string, number>;
}

export interface PreparedCollection {
  name: string;
  queries: JudgedQuery[];
  /** The document of each label. */
  documentOf: string[];
  corpus: CorpusSegment[];
}

export interface QueryTools {
  /** Of passages. */
  analyzer: TextAnalyzer;
  analyze: QueryAnalyzer;
  list: WordList;
}

/** What the service's threads have. */
export function createQueryTools(): QueryTools {
  return {
    analyzer: createTextAnalyzer(createWinkTokenizer),
    analyze: createQueryAnalyzer(createTextAnalyzer(createRuleTokenizer)),
    list: openWordList(loadWordList()),
  };
}

/** Names of the collections in `root`. Errors: throws if there is none. */
export function collectionNames(root: string): string[] {
  if (!existsSync(root)) throw new Error(`the ranking collections are not at ${root}`);
  return readdirSync(root).sort();
}

/** A collection with the first `maxQueries` that have a judgement. */
export function prepareCollection(
  root: string,
  name: string,
  maxQueries: number,
  { analyzer, list }: QueryTools,
): PreparedCollection {
  const documents = readLines(root, name, 'corpus.jsonl').map((line) => {
    const { _id, title, text }: { _id: string; title?: string; text: string } = JSON.parse(line);
    return { id: _id, title: title ?? null, text, sections: [] };
  });
  const { chunks, segment: buffer } = preparePages({ analyzer, chunking: oneChunk }, documents);
  const segment = openSegment(buffer, list);
  // A document without words has no chunk.
  labelSegment(
    segment,
    Uint32Array.from(chunks.keys()).filter((document) => chunks[document].length > 0),
  );
  const corpus = [corpusSegment(0, segment, createDeletions(segment.docs))];
  const queries = judgedQueries(readLines(root, name, 'queries.jsonl'), readLines(root, name, 'qrels.tsv'));
  return { name, documentOf: documents.map(({ id }) => id), corpus, queries: queries.slice(0, maxQueries) };
}

function readLines(root: string, name: string, file: string): string[] {
  return readFileSync(join(root, name, file), 'utf8')
    .trim()
    .split('\n');
}

/** The queries that have a relevant document, in their order. */
function judgedQueries(queryLines: readonly string[], judgementLines: readonly string[]): JudgedQuery[] {
  const grades = new Map<string, Map<string, number>>();
  for (const line of judgementLines) {
    const [query, document, grade] = line.split('\t');
    if (!(Number(grade) > 0)) continue;
    const known = grades.get(query) ?? new Map<string, number>();
    grades.set(query, known.set(document, Number(grade)));
  }
  return queryLines.flatMap((line) => {
    const { _id, text } = JSON.parse(line);
    const judged = grades.get(_id);
    return judged === undefined ? [] : [{ id: _id, text, grades: judged }];
  });
}
