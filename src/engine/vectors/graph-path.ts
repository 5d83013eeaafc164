/** The path or name of a shard's graph by its number, from 0, given that of the first: `shard-0.3.graph`, `shard-0.3.graph.1`. */
export function graphPathOf(first: string, number: number): string {
  return number === 0 ? first : `${first}.${number}`;
}
