/**
 * Scores extracted text against a text marked up by people, as the article extraction benchmark does: word tokens with their
 * case, shingles of four as multisets, precision and recall of each page, means over the pages, F1 of the means.
 */
export interface PageScore {
  precision: number;
  recall: number;
}

export interface Score extends PageScore {
  f1: number;
  pages: number;
}

const shingleLength = 4;

function shingles(text: string): Map<string, number> {
  const tokens = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const counts = new Map<string, number>();
  const last = Math.max(0, tokens.length - shingleLength);
  for (let i = 0; i <= last && tokens.length > 0; i++) {
    const shingle = tokens.slice(i, i + shingleLength).join(' ');
    counts.set(shingle, (counts.get(shingle) ?? 0) + 1);
  }
  return counts;
}

/** Two empty texts agree; an empty text has no precision to lose and nothing of the other. */
export function scorePage(expected: string, extracted: string): PageScore {
  const gold = shingles(expected);
  const found = shingles(extracted);
  let common = 0;
  for (const [shingle, count] of found) common += Math.min(count, gold.get(shingle) ?? 0);
  const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
  const foundAll = sum(found);
  const goldAll = sum(gold);
  return { precision: foundAll === 0 ? 1 : common / foundAll, recall: goldAll === 0 ? 1 : common / goldAll };
}

/** Paragraphs of more than so many characters are blocks of prose. */
const longestShort = 200;
/** …and are lost where less of their shingles than this is in the extracted text. */
const leastFound = 0.5;

/** The blocks of prose of a text marked up by people that are not in what was extracted. */
export function lostBlocks(expected: string, extracted: string): string[] {
  const found = shingles(extracted);
  return expected.split('\n').filter((block) => {
    if (block.trim().length <= longestShort) return false;
    const wanted = [...shingles(block).keys()];
    return wanted.filter((shingle) => found.has(shingle)).length < wanted.length * leastFound;
  });
}

export function meanScore(pages: readonly PageScore[]): Score {
  const mean = (pick: (page: PageScore) => number) => pages.reduce((sum, page) => sum + pick(page), 0) / pages.length;
  const precision = mean((page) => page.precision);
  const recall = mean((page) => page.recall);
  return { precision, recall, f1: (2 * precision * recall) / (precision + recall), pages: pages.length };
}
