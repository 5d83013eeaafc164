/** What the process that is killed while it saves puts into its index, and what a test expects to find there afterwards. */
import { range } from '../engine/vectors/space-harness.ts';
import type { SparseDocument } from '../engine/words/small-corpus.ts';
import { documentOf } from '../engine/words/sparse-harness.ts';

/** Saved by the save that succeeds, and by the one that is cut short. */
export const firstLabels = range(1, 301);
export const laterLabels = range(301, 501);
export const allLabels = range(1, 501);
export const savedModel = 'killed-while-saving';
export const words = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu'];

export function documentsOf(labels: Iterable<number>): Map<number, SparseDocument> {
  const textOf = (label: number) => words.filter((_, place) => label % (place + 2) === 0);
  return new Map([...labels].map((label) => [label, documentOf('hen', ...textOf(label))]));
}
