/** Whether two rankings put what they share in the same order. Pure; called by compare and by replays. */

/**
 * Kendall's tau-b of paired values: concordant less discordant pairs, over the pairs that are tied in neither, on each side.
 * Shapes: x and y of one length, one place per item.
 * Units:  from −1 (reversed) to 1 (the same order); null for fewer than two items, and where all values of a side are equal.
 * Source: Kendall 1945, "The treatment of ties in ranking problems".
 */
export function kendallTauB(x: readonly number[], y: readonly number[]): number | null {
  let balance = 0;
  let untiedX = 0;
  let untiedY = 0;
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) {
      const dx = Math.sign(x[i] - x[j]);
      const dy = Math.sign(y[i] - y[j]);
      balance += dx * dy;
      untiedX += dx * dx;
      untiedY += dy * dy;
    }
  }
  return untiedX === 0 || untiedY === 0 ? null : balance / Math.sqrt(untiedX * untiedY);
}

/**
 * Tau-b of the ranks that two lists give to the items they share; null below two shared ones.
 * Shapes: each list best first without repetition.
 */
export function rankCorrelation<Item>(a: readonly Item[], b: readonly Item[]): number | null {
  const rankInB = new Map(b.map((item, rank) => [item, rank]));
  const x: number[] = [];
  const y: number[] = [];
  a.forEach((item, rank) => {
    const other = rankInB.get(item);
    if (other === undefined) return;
    x.push(rank);
    y.push(other);
  });
  return kendallTauB(x, y);
}
