/**
 * Entry of the thread that clusters: pages of a run arrive piece by piece and live until its result is given. An aborted task ends the
 * thread and with it all runs: the next task of another run fails, and its job is tried again.
 */
import {
  type ClusterOptions,
  clusterPages,
  graphNeighbours,
  matchClusters,
  type PageClusters,
} from '../compute/embedding/page-graph.ts';
import { type ChunkRows, PageVectors } from '../compute/embedding/page-vectors.ts';
import { projectPages } from '../compute/embedding/project-pages.ts';
import { porterStem } from '../compute/text/stemmers.ts';
import { createTopicTerms, TopicWords } from '../compute/text/topic-words.ts';
import { nearestRows, RowComparison } from '../engine/vectors/nearest-rows.ts';

/** A unique name for each run. */
interface OfRun {
  run: string;
}

export interface ClusteredPages extends PageClusters {
  /** For each cluster, the id of the earlier cluster that it continues, or null. */
  continued: (number | null)[];
  points: Float32Array;
}

const vectors = new Map<string, PageVectors>();
const comparisons = new Map<string, RowComparison>();
const texts = new Map<string, TopicWords>();
const termsOf = createTopicTerms(porterStem);

function begun<Kept>(kept: Map<string, Kept>, run: string): Kept {
  const mine = kept.get(run);
  if (mine === undefined) throw new Error('the thread was restarted after this run began');
  return mine;
}

export function begin({ run, dim }: OfRun & { dim: number }): void {
  vectors.set(run, new PageVectors(dim));
}

/** Add pages; returns for each whether it has a vector. */
export function addPages({ run, pages }: OfRun & { pages: ChunkRows }): boolean[] {
  return begun(vectors, run).add(pages);
}

/** Call after all pages. Compares the next block with the others; returns whether another block is left. */
export function comparePages({ run }: OfRun): boolean {
  let comparison = comparisons.get(run);
  if (comparison === undefined) {
    const table = begun(vectors, run).centred();
    vectors.delete(run);
    const k = Math.min(graphNeighbours, Math.max(1, table.count - 1));
    comparison = new RowComparison(table, k);
    comparisons.set(run, comparison);
  }
  return comparison.compareBlock();
}

/** Clusters all pages after the comparison, in the order of their arrival. Drops the run. */
export function cluster({ run, ...options }: OfRun & ClusterOptions): ClusteredPages {
  const comparison = begun(comparisons, run);
  comparisons.delete(run);
  const { rows, count, dim } = comparison.table;
  const near = comparison.neighbours();
  const clustered = clusterPages(near, options);
  const points = projectPages(near, (pages) => {
    const some = new Float32Array(pages.length * dim);
    for (const [row, page] of pages.entries()) some.set(rows.subarray(page * dim, (page + 1) * dim), row * dim);
    return nearestRows({ rows: some, count: pages.length, dim }, graphNeighbours);
  });
  return {
    ...clustered,
    continued: matchClusters(clustered.clusters, clustered.count, options.earlier ?? new Uint32Array(count)),
    points,
  };
}

export function beginKeywords({ run }: OfRun): void {
  texts.set(run, new TopicWords());
}

export function forget({ run }: OfRun): void {
  vectors.delete(run);
  comparisons.delete(run);
  texts.delete(run);
}

export interface TextOfCluster {
  /** -1: none. */
  cluster: number;
  title: string | null;
  text: string;
  language: string;
}

export function addTexts({ run, texts: some }: OfRun & { texts: readonly TextOfCluster[] }): void {
  const words = begun(texts, run);
  for (const { cluster: number, title, text, language } of some) {
    const inTitle = termsOf(title ?? '', language);
    words.add(number, language, [...inTitle, ...termsOf(text, language)], inTitle);
  }
}

/** Keywords of the added texts by cluster, best first. Drops the run. */
export function keywords({ run }: OfRun): Map<number, string[]> {
  const found = begun(texts, run).keywords();
  texts.delete(run);
  return found;
}
