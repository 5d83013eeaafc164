/** The labelled sets of ../shared/data/topics with the vectors of the embedded model, for the topics bench. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalEmbedder } from '../../src/compute/embedding/embed-local.ts';
import { openWordVectors } from '../../src/compute/embedding/word-vectors.ts';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../../src/compute/text/wink-tokenizer.ts';
import { loadWordVectors } from '../../src/engine/load-word-vectors.ts';

export const dim = 1024;

export interface LabelledPage {
  title: string | null;
  text: string;
  label: string;
}

export interface LabelledSet {
  name: string;
  pages: LabelledPage[];
  /** Page by page, unit length. */
  rows: Float32Array;
}

const folder = join(import.meta.dirname, '../../../shared/data/topics');

export async function readSets(): Promise<{ agNews: LabelledSet; squad: LabelledSet }> {
  const root = process.env.TOPICS_DATA ?? folder;
  if (!existsSync(root)) throw new Error(`the labelled sets are not at ${root}`);
  const vectors = openWordVectors(loadWordVectors());
  const embedder = createLocalEmbedder(vectors, dim);
  const analyzer = createTextAnalyzer(createWinkTokenizer);
  const read = (name: string): LabelledSet => {
    const lines = readFileSync(join(root, `${name}.jsonl`), 'utf8')
      .trim()
      .split('\n');
    const pages: LabelledPage[] = lines.map((line) => {
      const { title, text, label } = JSON.parse(line);
      return { title: title === '' ? null : title, text, label };
    });
    const rows = new Float32Array(pages.length * dim);
    pages.forEach(({ title, text }, row) => {
      const body = analyzer.terms(text);
      const heading = title === null ? undefined : analyzer.terms(title);
      embedder.embedDocument(body.words, body.stems, 0, body.words.length, rows, row * dim, heading);
    });
    return { name, pages, rows };
  };
  return { agNews: read('ag-news'), squad: read('squad-articles') };
}

/** The pages of a set that are wanted, with their vectors. */
export function partOf(
  set: LabelledSet,
  name: string,
  isWanted: (page: LabelledPage, index: number) => boolean,
): LabelledSet {
  const kept = [...set.pages.keys()].filter((index) => isWanted(set.pages[index], index));
  const rows = new Float32Array(kept.length * dim);
  kept.forEach((index, row) => {
    rows.set(set.rows.subarray(index * dim, (index + 1) * dim), row * dim);
  });
  return { name, pages: kept.map((index) => set.pages[index]), rows };
}

/** Labels as numbers. */
export function labelsOf({ pages }: LabelledSet): number[] {
  const numbers = new Map<string, number>();
  return pages.map(({ label }) => {
    const number = numbers.get(label) ?? numbers.size;
    numbers.set(label, number);
    return number;
  });
}
