/** A page's `metadata`: any JSON object within bounds, returned unchanged or refused. */
import { z } from 'zod';
import { isWellFormed, loneSurrogates } from './texts.ts';

export type PageMetadata = Record<string, unknown>;

/** Deeper nesting could overflow the stack when serialized. */
const maxDepth = 64;
/** Elements and members at all depths: 130,000 took a second to check, and a third of it in each search that found the page. */
const maxValues = 4000;
/** Characters of its JSON: a thousand highlights of a paragraph each. */
const maxLength = 262_144;
/** From here on JSON uses exponents, and single units do not matter. */
const firstExponent = 1e21;

/** All values and member names by level, up to the limits. */
function walk(metadata: PageMetadata): { values: unknown[] } | { fault: string } {
  const values: unknown[] = [];
  let level: unknown[] = [metadata];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return { fault: `must not nest deeper than ${maxDepth} levels` };
    const inner: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      const names = Object.keys(each);
      count += names.length;
      if (count > maxValues) return { fault: `must not contain more than ${maxValues} values` };
      if (!Array.isArray(each)) values.push(...names);
      inner.push(...Object.values(each));
    }
    values.push(...inner);
    level = inner;
  }
  return { values };
}

const isRounded = (number: number): boolean =>
  Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < firstExponent;

function faultsOf(metadata: PageMetadata): string[] {
  const walked = walk(metadata);
  if ('fault' in walked) return [walked.fault];
  const faults: string[] = [];
  const texts = walked.values.filter((value) => typeof value === 'string');
  const numbers = walked.values.filter((value) => typeof value === 'number');
  if (!texts.every(isWellFormed)) faults.push(loneSurrogates.message);
  if (!numbers.every(Number.isFinite)) faults.push('must not contain a number beyond ±1.8e308: send it as a string');
  if (numbers.some(isRounded)) {
    faults.push(
      `must not contain a whole number beyond ±${Number.MAX_SAFE_INTEGER}, which would change: send it as a string`,
    );
  }
  if (JSON.stringify(metadata).length > maxLength) faults.push(`must have at most ${maxLength} characters as JSON`);
  return faults;
}

/** Not a zod record, which would visit every member before counting. */
export const pageMetadata = z
  .custom<PageMetadata>()
  .superRefine((value: unknown, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      context.addIssue({ code: 'invalid_type', expected: 'record', input: value });
      return;
    }
    for (const message of faultsOf(value as PageMetadata)) context.addIssue({ code: 'custom', message });
  })
  .meta({
    type: 'object',
    additionalProperties: {},
    maxProperties: maxValues,
    description: `at most ${maxValues} values at all depths together, ${maxDepth} levels, ${maxLength} characters as JSON; no whole number beyond ±${Number.MAX_SAFE_INTEGER}, which is to be a string`,
  });

/** Lists that merge instead of conflicting. */
const grownLists = ['tags', 'highlights'] as const;

/**
 * The known metadata with the missing or null keys and new `tags` and `highlights` of another submission. Returns
 * `known` itself if nothing is new or the result is too large.
 */
export function withMore(known: PageMetadata | null, more: PageMetadata | null): PageMetadata | null {
  if (more === null) return known;
  const added = Object.entries(more).flatMap(([key, value]): [string, unknown][] => {
    const has = known !== null && Object.hasOwn(known, key) ? known[key] : null;
    if (has == null) return value == null ? [] : [[key, value]];
    if (!Array.isArray(has) || !Array.isArray(value) || !grownLists.some((list) => list === key)) return [];
    const present = new Set(has.map((element) => JSON.stringify(element)));
    const further = value.filter((element) => {
      const text = JSON.stringify(element);
      return !present.has(text) && present.add(text);
    });
    return further.length === 0 ? [] : [[key, [...has, ...further]]];
  });
  if (added.length === 0) return known;
  const both = { ...known, ...Object.fromEntries(added) };
  return faultsOf(both).length === 0 ? both : known;
}
