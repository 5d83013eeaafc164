/** The `metadata` of a page: any JSON object, within bounds. Whatever it holds comes back as it was sent, or is refused. */
import { z } from 'zod';
import { isWellFormed, loneSurrogates } from './texts.ts';

export type PageMetadata = Record<string, unknown>;

/** Nesting deeper than this is refused: a body that parses may still overflow the stack when it is written. */
const maxDepth = 64;
/** Elements of lists and members of objects, at all depths: 130,000 took a second to check, and a third of it in each search that found the page. */
const maxValues = 4000;
/** Characters of it as JSON: a thousand highlights of a paragraph each. */
const maxLength = 262_144;
/** From here on JSON writes a number with an exponent: whoever sends it means no single units. */
const firstExponent = 1e21;

/** Every value with the names of members, level by level, until one is too deep or there are too many. */
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
      if (count > maxValues) return { fault: `must not hold more than ${maxValues} values` };
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
  if (!numbers.every(Number.isFinite)) faults.push('must not hold a number beyond ±1.8e308: send it as a string');
  if (numbers.some(isRounded)) {
    faults.push(
      `must not hold a whole number beyond ±${Number.MAX_SAFE_INTEGER}, which would change: send it as a string`,
    );
  }
  if (JSON.stringify(metadata).length > maxLength) faults.push(`must have at most ${maxLength} characters as JSON`);
  return faults;
}

/** Written by hand, because a record of zod looks at every member before anything is counted. */
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

/** Lists that grow: what a person said of a page in one place says nothing against what they said in another. */
const grownLists = ['tags', 'highlights'] as const;

/**
 * What is known of a page, and what another submission of it adds: keys that are missing or null, and elements of `tags` and `highlights` that are not there
 * yet. `known` itself where nothing is added, or where both together are more than a page may have.
 */
export function withMore(known: PageMetadata | null, more: PageMetadata | null): PageMetadata | null {
  if (more === null) return known;
  const added = Object.entries(more).flatMap(([key, value]): [string, unknown][] => {
    const has = known !== null && Object.hasOwn(known, key) ? known[key] : null;
    if (has == null) return value == null ? [] : [[key, value]];
    if (!Array.isArray(has) || !Array.isArray(value) || !grownLists.some((list) => list === key)) return [];
    const held = new Set(has.map((element) => JSON.stringify(element)));
    const further = value.filter((element) => {
      const text = JSON.stringify(element);
      return !held.has(text) && held.add(text);
    });
    return further.length === 0 ? [] : [[key, [...has, ...further]]];
  });
  if (added.length === 0) return known;
  const both = { ...known, ...Object.fromEntries(added) };
  return faultsOf(both).length === 0 ? both : known;
}
