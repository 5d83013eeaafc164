/**
 * Compares pages, or a sample, with the results of indexing: chunks, words, rows of vectors and, for a limited time,
 * vectors of the built-in model. Title and metadata may be newer than the index, so a document needs the words of text
 * and title, and may have those of metadata. Words of earlier versions lack their languages and are skipped.
 */
import type { LookAtRows, LookAtSegments } from '../actors/indexes/audit-files.ts';
import { chunkedTextOf } from '../actors/indexes/recover-index.ts';
import { embeddingTexts } from '../compute/embedding/embedding-text.ts';
import { meanPageVector } from '../compute/embedding/pool-vectors.ts';
import { seededRandom } from '../compute/seeded-random.ts';
import { lookupTerm, termOf } from '../compute/structures/term-table.ts';
import { type EmbeddingModel, isBuiltIn } from '../domain/model.ts';
import { areChunksOf, isBare, type Page } from '../domain/page.ts';
import type { EncodedTexts } from '../encoder/encoder.ts';
import { type ChunkedText, type PageTools, segmentOfChunks } from '../engine/prepare-page.ts';
import type { VectorRows } from '../engine/vectors/vector-rows.ts';
import { openSegment, ordinalOf, type Segment, seekPosting } from '../engine/words/segment.ts';
import type { StoreReader } from '../store/store.ts';

export interface Sample {
  seed: number;
  /** Maximum pages; Infinity: all. */
  pages: number;
}

export interface TextComparison {
  /** Vectors of passages by the built-in model. */
  encode: (texts: readonly string[]) => Promise<Pick<EncodedTexts, 'rows' | 'failed'>>;
  isOver: () => boolean;
}

/** Runtimes agree to .999; another text of the same subject is below. */
const minTextCosine = 0.97;
/** Rows of the files are rounded to int8: docs/storage.md. */
const minRowCosine = 0.99;

export type PageComparison = ReturnType<typeof pageComparison>;

export function pageComparison(reader: StoreReader, tools: PageTools, { seed, pages: most }: Sample) {
  const indexed = [...reader.pages.all()].filter(({ status, chunk_count }) => status === 'indexed' && chunk_count > 0);
  const sample = sampleOf(indexed, most, seededRandom(seed));

  /** Skips inconsistent rows, which the store's audit reports. */
  function* compared(): Generator<Page> {
    const { pages } = reader;
    for (const { no } of sample) {
      const page = pages.get(no);
      if (page === undefined || !pages.isWhole(no)) continue;
      const chunks = pages.chunks(no);
      if (chunks.length === page.chunk_count && areChunksOf(pages.bodyLength(no) ?? 0, chunks)) yield page;
    }
  }

  const rowFindings = (
    rows: VectorRows,
    expected: (page: Page) => { label: number; vector: Float32Array; what: string }[],
  ): string[] => {
    const cosine = new Float32Array(1);
    const findings = new Set<string>();
    for (const page of compared()) {
      for (const { label, vector, what } of expected(page)) {
        const row = rows.rowOf(label);
        if (row === undefined || vector.every((x) => x === 0)) continue;
        rows.setQuery(vector);
        rows.score(Uint32Array.of(row), cosine);
        if (!(cosine[0] >= minRowCosine)) findings.add(what);
      }
    }
    return [...findings];
  };

  /** Whether every word is in a chunk, or the only chunk is bare. True for all settings of `chunkText`. */
  const isCovered = ({ text, chunks }: ChunkedText): boolean => {
    if (isBare(chunks[0])) return true;
    const { terms, starts, ends } = tools.analyzer.analyze(text);
    let chunk = 0;
    return terms.every((term, token) => {
      while (chunk < chunks.length && chunks[chunk].char_end <= starts[token]) chunk++;
      return term === 0 || (chunk < chunks.length && chunks[chunk].char_start < ends[token]);
    });
  };

  /** Possible contents of the page when it was indexed. */
  const asIndexed = (page: Page): Required<ChunkedText>[] => {
    const pages = page.title === null ? [page] : [page, { ...page, title: null }];
    return pages.map((each) => chunkedTextOf(reader, each));
  };

  return {
    pages: sample.length,
    /** Pages indexed by an earlier version. */
    ofEarlierVersions: sample.filter((page) => !hasLanguages(page)).length,
    storeFindings: (): string[] =>
      Array.from(compared()).flatMap((page) =>
        isCovered(chunkedTextOf(reader, page)) ? [] : `page ${page.no}: words of its text are in no chunk`,
      ),
    /**
     * Compares vectors of the built-in model with their texts, one per page, until the time is over. `vectors`: number
     * of compared ones. Errors: of the encoder.
     */
    async vectorFindings({ encode, isOver }: TextComparison): Promise<{ findings: string[]; vectors: number }> {
      const findings: string[] = [];
      let vectors = 0;
      const random = seededRandom(seed);
      for (const { space, dim, id } of reader.models.all().filter(isBuiltIn)) {
        for (const page of shuffled([...compared()], random)) {
          if (isOver()) break;
          const rows = reader.vectors.get(space, page.no);
          const ordinal = Math.floor(random() * page.chunk_count);
          const row = rows?.subarray(ordinal * dim, (ordinal + 1) * dim);
          if (row === undefined || row.every((each) => each === 0)) continue;
          const texts = asIndexed(page).flatMap(({ title, text, chunks }) =>
            embeddingTexts(title, text, chunks.slice(ordinal, ordinal + 1)),
          );
          const { rows: expected, failed } = await encode(texts);
          if (failed.size > 0) continue;
          const cosineWith = (at: number) => row.reduce((sum, each, i) => sum + each * expected[at * dim + i], 0);
          vectors++;
          if (texts.every((_, at) => cosineWith(at) < minTextCosine))
            findings.push(`page ${page.no}: a vector of ${id} does not match its text`);
        }
      }
      return { findings, vectors };
    },
    /** Documents in the word index. Missing documents are no fault: the next start restores them. */
    lookAtSegments: ((segments) => {
      const documents = [...segments].map(([file, segment]) => ({ file, segment, counts: postingCounts(segment) }));
      return Array.from(compared(), (page) => {
        if (!hasLanguages(page) || hasOtherFacts(reader, page)) return [];
        const holding = documents.filter(({ segment }) => ordinalOf(segment, page.first_label) >= 0);
        const isOf = ({ segment, counts }: (typeof documents)[number]) =>
          asIndexed(page).some((text) => {
            const most = openSegment(segmentOfChunks(tools, text));
            const least = openSegment(segmentOfChunks(tools, { ...text, facts: '', author: '' }));
            const labels = Array.from(text.chunks, (_, chunk) => page.first_label + chunk);
            return labels.every((label, chunk) => isDocumentOf(segment, counts, label, { most, least, chunk }));
          });
        return holding
          .filter((each) => !isOf(each))
          .map(({ file }) => `${file}: page ${page.no} has other words than its text`);
      }).flat();
    }) satisfies LookAtSegments,
    lookAtVectors:
      ({ id, space, dim }: EmbeddingModel): LookAtRows =>
      (rows) =>
        rowFindings(rows, (page) => {
          const stored = reader.vectors.get(space, page.no) ?? new Float32Array(0);
          return Array.from({ length: stored.length / dim }, (_, chunk) => ({
            label: page.first_label + chunk,
            vector: stored.subarray(chunk * dim, (chunk + 1) * dim),
            what: `page ${page.no}: a vector of ${id} differs from the stored one`,
          }));
        }),
    lookAtPageVectors:
      ({ id, space, dim }: EmbeddingModel): LookAtRows =>
      (rows) =>
        rowFindings(rows, (page) => {
          const vector = meanPageVector(reader.vectors.get(space, page.no) ?? new Float32Array(0), dim);
          const what = `page ${page.no}: its page vector of ${id} is not the mean of its vectors`;
          return vector === null ? [] : [{ label: page.first_label, vector, what }];
        }),
  };
}

/** Whether changed facts of the page are not indexed yet. */
function hasOtherFacts({ jobs }: StoreReader, { facts_job = 0 }: Page): boolean {
  return (jobs.get(facts_job)?.status ?? 'done') !== 'done';
}

function hasLanguages({ passage_languages }: Pick<Page, 'passage_languages'>): boolean {
  return passage_languages !== undefined;
}

/** Fisher and Yates. */
function shuffled<Item>(items: Item[], random: () => number): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other], items[last]];
  }
  return items;
}

function sampleOf<Item>(items: Item[], wanted: number, random: () => number): Item[] {
  // Selection sampling (Knuth, volume 2, 3.4.2, algorithm S).
  let left = Math.min(wanted, items.length);
  return items.filter((_, at) => {
    const isTaken = random() * (items.length - at) < left;
    if (isTaken) left--;
    return isTaken;
  });
}

function postingCounts({ docs, postings }: Segment): Uint32Array {
  const counts = new Uint32Array(docs);
  for (const posting of postings) counts[posting >>> 16]++;
  return counts;
}

/** Whether the terms of a segment's document are between those of two expected documents. */
function isDocumentOf(
  stored: Segment,
  counts: Uint32Array,
  label: number,
  { most, least, chunk }: { most: Segment; least: Segment; chunk: number },
): boolean {
  const ordinal = ordinalOf(stored, label);
  if (ordinal < 0) return true;
  let known = 0;
  for (let term = 0; term + 1 < most.starts.length; term++) {
    const text = termOf(most.terms, term);
    const [frequency, low, high] = [
      frequencyOf(stored, text, ordinal),
      frequencyOf(least, text, chunk),
      frequencyOf(most, text, chunk),
    ];
    if (frequency < low || frequency > high) return false;
    if (frequency > 0) known++;
  }
  const runOf = ({ runs, runStarts }: Segment, at: number) =>
    Buffer.from(runs.buffer as ArrayBuffer, runs.byteOffset + runStarts[at], runStarts[at + 1] - runStarts[at]);
  return known === counts[ordinal] && runOf(stored, ordinal).equals(runOf(least, chunk));
}

function frequencyOf({ terms, starts, postings }: Segment, text: string, ordinal: number): number {
  const term = lookupTerm(terms, text);
  if (term < 0) return 0;
  const at = seekPosting(postings, starts[term], starts[term + 1], ordinal);
  return at < starts[term + 1] && postings[at] >>> 16 === ordinal ? postings[at] & 0xffff : 0;
}
