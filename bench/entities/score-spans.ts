/** Precision, recall and F1 of found spans against gold ones: exact spans with type, overlap with type, and sets of names. */
import { type ComparedType, comparedTypes, type Span } from './gold.ts';

const capital = /\p{Lu}/u;

export interface Counts {
  found: number;
  gold: number;
  right: number;
}

export interface Measure {
  precision: number;
  recall: number;
  f1: number;
}

export interface SpanScores {
  /** Start, end and type agree. */
  exact: Measure;
  /** The same by type. */
  byType: Partial<Record<ComparedType, Measure & { gold: number }>>;
  /** Some overlap with a span of that type. */
  overlap: Measure;
  /** Set of names per page, in lower case, types ignored. */
  names: Measure;
  /** The same without gold names that have no capital: kinds of things, such as genres and compounds, which are no proper names. */
  properNames: Measure;
}

function measureOf({ found, gold, right }: Counts): Measure {
  const precision = found === 0 ? 0 : right / found;
  const recall = gold === 0 ? 0 : right / gold;
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { precision: rounded(precision), recall: rounded(recall), f1: rounded(f1) };
}

export function scoreSpans(pages: readonly { gold: readonly Span[]; found: readonly Span[] }[]): SpanScores {
  const exact = new Map(comparedTypes.map((type) => [type, none()]));
  const overlap = { found: none(), gold: none() };
  const names = none();
  const properNames = none();
  for (const { gold, found } of pages) {
    const keyOf = ({ type, start, end }: Span) => `${type} ${start} ${end}`;
    const goldKeys = new Set(gold.map(keyOf));
    for (const [type, counts] of exact) {
      const ofType = found.filter((span) => span.type === type);
      counts.found += ofType.length;
      counts.gold += gold.filter((span) => span.type === type).length;
      counts.right += ofType.filter((span) => goldKeys.has(keyOf(span))).length;
    }
    const touches = (span: Span, others: readonly Span[]) =>
      others.some((other) => other.type === span.type && other.start < span.end && span.start < other.end);
    overlap.found.found += found.length;
    overlap.found.right += found.filter((span) => touches(span, gold)).length;
    overlap.gold.gold += gold.length;
    overlap.gold.right += gold.filter((span) => touches(span, found)).length;
    count(names, nameSet(found), nameSet(gold));
    const kinds = new Set(nameSet(gold.filter(({ text }) => !capital.test(text))));
    const isProper = (name: string) => !kinds.has(name);
    count(properNames, nameSet(found).filter(isProper), nameSet(gold).filter(isProper));
  }
  const all = [...exact.values()].reduce((sum, each) => add(sum, each), none());
  const precision = measureOf({ ...overlap.found, gold: 0 }).precision;
  const recall = measureOf({ ...overlap.gold, found: 0 }).recall;
  return {
    exact: measureOf(all),
    byType: Object.fromEntries(
      [...exact]
        .filter(([, { gold }]) => gold > 0)
        .map(([type, each]) => [type, { ...measureOf(each), gold: each.gold }]),
    ),
    overlap: {
      precision,
      recall,
      f1: rounded(precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)),
    },
    names: measureOf(names),
    properNames: measureOf(properNames),
  };
}

function nameSet(spans: readonly Span[]): string[] {
  return [...new Set(spans.map(({ text }) => text.toLowerCase().replace(/\s+/g, ' ').trim()))];
}

function count(counts: Counts, found: readonly string[], gold: readonly string[]): void {
  counts.found += found.length;
  counts.gold += gold.length;
  counts.right += found.filter((name) => gold.includes(name)).length;
}

function none(): Counts {
  return { found: 0, gold: 0, right: 0 };
}

function add(a: Counts, b: Counts): Counts {
  return { found: a.found + b.found, gold: a.gold + b.gold, right: a.right + b.right };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
