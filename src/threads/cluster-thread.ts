/**
 * Entry of the thread that clusters: pages of a run are handed over piece by piece, so that nobody has to hold them all twice, and live
 * until its result is given. An aborted task ends the thread and with it all of that: whoever goes on then is told, and begins again.
 */
import { ClassKeywords } from '../compute/clusters/class-keywords.ts';
import { type ClusteredPages, type ClusterPagesOptions, clusterPages } from '../compute/clusters/cluster-pages.ts';
import { createKeywordTerms, type KeywordTermsOf } from '../compute/clusters/keyword-terms.ts';
import { type ChunkRows, PageTable } from '../compute/clusters/page-table.ts';
import { detectLanguage } from '../compute/text/detect-language.ts';
import { porterStem } from '../compute/text/stemmers.ts';

/** Names the run that a task belongs to: no other has had the name. */
interface OfRun {
  run: string;
}

/** Of runs that compare pages, and of runs that find keywords. */
const tables = new Map<string, PageTable>();
const texts = new Map<string, ClassKeywords>();
let termsOf: KeywordTermsOf | undefined;

function begun<Kept>(kept: Map<string, Kept>, run: string): Kept {
  const mine = kept.get(run);
  if (mine === undefined) throw new Error('the thread was started anew since this run began');
  return mine;
}

/** Begin a run that compares pages: learn from a sample along which axes. */
export function learn({ run, sample, dim }: OfRun & { sample: readonly ChunkRows[]; dim: number }): void {
  termsOf ??= createKeywordTerms(porterStem);
  tables.set(run, new PageTable(sample, dim, termsOf));
}

/** Take in pages; for each whether it has a vector. */
export function addPages({ run, pages }: OfRun & { pages: ChunkRows }): boolean[] {
  return begun(tables, run).add(pages);
}

/** Cluster what was taken in; places are those in which pages were added and had a vector. Lets go of the run. */
export function cluster({ run, ...options }: OfRun & Omit<ClusterPagesOptions, 'monotonic'>): ClusteredPages {
  const { vectors } = begun(tables, run);
  tables.delete(run);
  return clusterPages(vectors, { ...options, monotonic: () => performance.now() });
}

/** Begin a run that finds keywords. */
export function beginKeywords({ run }: OfRun): void {
  texts.set(run, new ClassKeywords());
}

/** Let go of a run that is given up. */
export function forget({ run }: OfRun): void {
  tables.delete(run);
  texts.delete(run);
}

export interface TextOfCluster {
  /** -1: of no cluster. */
  cluster: number;
  title: string | null;
  text: string;
}

export function addTexts({ run, texts: some }: OfRun & { texts: readonly TextOfCluster[] }): void {
  const keywords = begun(texts, run);
  termsOf ??= createKeywordTerms(porterStem);
  for (const { cluster: number, title, text } of some) {
    const language = detectLanguage(text);
    keywords.add(number, language, termsOf(title === null ? text : `${title}\n${text}`, language));
  }
}

/** Keywords by cluster, best first, of the texts taken in. Lets go of the run. */
export function keywords({ run }: OfRun): Map<number, string[]> {
  const found = begun(texts, run).keywords();
  texts.delete(run);
  return found;
}
