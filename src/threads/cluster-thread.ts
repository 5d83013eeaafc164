/**
 * Entry of the thread that clusters: one run at a time, whose pages are handed over piece by piece so that nobody has to hold them
 * all twice. What is handed over lives until the next `learn` or `forget`. An aborted task ends the thread and with it all of
 * that: whoever goes on then is told, and begins again.
 */
import { ClassKeywords } from '../compute/clusters/class-keywords.ts';
import { type ClusteredPages, type ClusterPagesOptions, clusterPages } from '../compute/clusters/cluster-pages.ts';
import { createKeywordTerms, type KeywordTermsOf } from '../compute/clusters/keyword-terms.ts';
import { type ChunkRows, PageTable } from '../compute/clusters/page-table.ts';
import { detectLanguage } from '../compute/text/detect-language.ts';
import { winkStemmer } from '../compute/text/wink-tokenizer.ts';

/** Names the run that a task belongs to. */
interface OfRun {
  run: string;
}

interface Held extends OfRun {
  table: PageTable | null;
  keywords: ClassKeywords;
}

let held: Held | null = null;
let termsOf: KeywordTermsOf | undefined;

function heldOf(run: string): Held {
  if (held?.run !== run) throw new Error('the thread was started anew since this run began');
  return held;
}

/** Begin a run that compares pages: learn from a sample along which axes. */
export function learn({ run, sample, dim }: OfRun & { sample: readonly ChunkRows[]; dim: number }): void {
  held = { run, table: new PageTable(sample, dim), keywords: new ClassKeywords() };
}

/** Take in pages; for each whether it has a vector. */
export function addPages({ run, pages }: OfRun & { pages: ChunkRows }): boolean[] {
  const { table } = heldOf(run);
  if (table === null) throw new Error('this run compares no pages');
  return table.add(pages);
}

/** Cluster what was taken in; places are those in which pages were added and had a vector. Lets go of the vectors. */
export function cluster({ run, ...options }: OfRun & Omit<ClusterPagesOptions, 'monotonic'>): ClusteredPages {
  const mine = heldOf(run);
  if (mine.table === null) throw new Error('this run compares no pages');
  const clustered = clusterPages(mine.table.vectors, { ...options, monotonic: () => performance.now() });
  mine.table = null;
  return clustered;
}

/** Begin a run that only finds keywords. */
export function beginKeywords({ run }: OfRun): void {
  held = { run, table: null, keywords: new ClassKeywords() };
}

export interface TextOfCluster {
  /** -1: of no cluster. */
  cluster: number;
  title: string | null;
  text: string;
}

export function addTexts({ run, texts }: OfRun & { texts: readonly TextOfCluster[] }): void {
  const { keywords } = heldOf(run);
  termsOf ??= createKeywordTerms(winkStemmer());
  for (const { cluster: number, title, text } of texts) {
    const language = detectLanguage(text);
    keywords.add(number, language, termsOf(title === null ? text : `${title}\n${text}`, language));
  }
}

/** Keywords by cluster, best first, of the texts taken in. Lets go of everything. */
export function keywords({ run }: OfRun): Map<number, string[]> {
  const found = heldOf(run).keywords.keywords();
  held = null;
  return found;
}

/** Let go of everything. */
export function forget(): void {
  held = null;
}
