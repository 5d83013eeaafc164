/** A page's `metadata`: any JSON object within bounds, returned unchanged or refused. */
import { z } from 'zod';
import { foldTitle } from './normalize-text.ts';
import { isWellFormed, loneSurrogates, storedText } from './values.ts';

export type PageMetadata = Record<string, unknown>;

/** Deeper nesting could overflow the stack when serialized. */
const maxDepth = 64;
/** Max elements and members at all depths: 130,000 took a second to check, and .3 s in each search. */
const maxValues = 4000;
/** Max characters as JSON: a thousand highlights of a paragraph each. */
const maxLength = 262_144;
/** From this number on, JSON uses exponents, and single units do not matter. */
const firstExponent = 1e21;

/** All values and member names, level by level, up to the limits. */
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

/** Not a zod record, because that would visit every member before it counts them. */
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

const grownLists = ['tags', 'highlights'] as const;
/** Keys with values that users wrote or chose. If two pages differ, the merged page has a list of both. */
const personalKeys = [...grownLists, 'removed_tags', 'removed_highlights', 'folder', 'note', 'description', 'status'];
/** Key for facts of merged pages that differ from those of the remaining page. */
const MERGED = 'merged';

/** Merges another page's metadata; no size limit. The list `merged` gets its differing facts and `others`. */
export function withAll(
  known: PageMetadata | null,
  more: PageMetadata | null,
  others: PageMetadata,
): PageMetadata | null {
  const both = { ...known };
  const differing = { ...others };
  for (const [key, value] of Object.entries(more ?? {})) {
    const has = Object.hasOwn(both, key) ? both[key] : null;
    if (value == null && Object.hasOwn(both, key)) continue;
    const isSame = JSON.stringify(has) === JSON.stringify(value);
    if (has == null || isSame) define(both, key, value);
    else if (key === 'note' && (has === '' || value === '')) define(both, key, has === '' ? value : has);
    else if (key === MERGED || personalKeys.includes(key)) define(both, key, distinct([has].flat(), [value].flat()));
    else define(differing, key, value);
  }
  if (Object.keys(differing).length === 0) return known === null && more === null ? null : both;
  return { ...both, [MERGED]: distinct([both[MERGED] ?? []].flat(), [differing]) };
}

/** Sets a key, even one like `__proto__`, as JSON.parse does. */
function define(target: PageMetadata, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function distinct(...lists: unknown[][]): unknown[] {
  return [...new Map(lists.flat().map((each) => [JSON.stringify(each), each])).values()];
}

/** Tags are equal if they differ only in case, highlights if they have the same quote. */
function keyOf(element: unknown): string {
  const { name, quote } = typeof element === 'object' && element !== null ? (element as PageMetadata) : {};
  const text = [element, name, quote].find((each) => typeof each === 'string');
  return typeof text === 'string' ? foldTitle(text) : JSON.stringify(element);
}

const listIn = (value: unknown): unknown[] => (value == null ? [] : [value].flat());

const isPlaced = (element: unknown): boolean =>
  typeof element === 'object' && element !== null && 'start' in element && element.start != null;

/** Elements that a list lacks. Highlights with one quote may differ in their place; one without a place equals all. */
function lackedBy(list: readonly unknown[], removed: readonly unknown[], elements: readonly unknown[]): unknown[] {
  const out = new Set(removed.map(keyOf));
  const present = new Set<string>();
  const add = (element: unknown) => {
    const key = keyOf(element);
    present.add(`any ${key}`);
    present.add(isPlaced(element) ? `placed ${JSON.stringify(element)}` : `bare ${key}`);
  };
  const has = (element: unknown): boolean => {
    const key = keyOf(element);
    if (!isPlaced(element)) return present.has(`any ${key}`);
    return present.has(`bare ${key}`) || present.has(`placed ${JSON.stringify(element)}`);
  };
  list.forEach(add);
  return elements.filter((element) => {
    const isLacking = !out.has(keyOf(element)) && !has(element);
    if (isLacking) add(element);
    return isLacking;
  });
}

/** Adds missing keys, tags and highlights, except removed ones; replaces `newer` keys. May return `known` itself. */
export function withMore(
  known: PageMetadata | null,
  more: PageMetadata | null,
  newer: readonly string[] = [],
): PageMetadata | null {
  if (more === null) return known;
  const added = Object.entries(more).flatMap(([key, value]): [string, unknown][] => {
    const has = known !== null && Object.hasOwn(known, key) ? known[key] : null;
    if (has == null || (newer.includes(key) && has !== value))
      return value == null || (has == null && value === false) ? [] : [[key, value]];
    if (!Array.isArray(has) || !Array.isArray(value) || !grownLists.some((list) => list === key)) return [];
    const further = lackedBy(has, listIn(known?.[`removed_${key}`]), value);
    return further.length === 0 ? [] : [[key, [...has, ...further]]];
  });
  if (added.length === 0) return known;
  const both = { ...known, ...Object.fromEntries(added) };
  return faultsOf(both).length === 0 ? both : known;
}

const maxTagLength = 200;
const maxNoteLength = 10_000;
const maxQuoteLength = 10_000;
const maxContextLength = 100;
const maxEdits = 100;

const tags = z.array(storedText(maxTagLength).regex(/\S/)).max(maxEdits);
/** A range of the text. Its quote and the text next to it identify it, even if `start` (UTF-16) has changed. */
const highlight = z.strictObject({
  quote: storedText(maxQuoteLength).regex(/\S/),
  prefix: storedText(maxContextLength).optional(),
  suffix: storedText(maxContextLength).optional(),
  start: z.int().min(0).optional(),
});

export const metadataEdit = z.strictObject({
  add_tags: tags.optional(),
  remove_tags: tags.optional().describe('ignoring case'),
  note: storedText(maxNoteLength).nullable().optional().describe('null removes it'),
  add_highlights: z.array(highlight).max(maxEdits).optional(),
  remove_highlights: z
    .array(z.unknown())
    .max(maxEdits)
    .superRefine((list, context) => {
      for (const message of faultsOf({ list })) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .describe('as they are in `metadata`'),
});
export type MetadataEdit = z.infer<typeof metadataEdit>;

/** Max removed elements that are remembered, so that imports do not add them again: the latest ones. */
const maxRemoved = 200;

/** Remembers removed parts (a note as ''), so that imports do not restore them. Returns `known` itself if unchanged. */
export function withEdit(known: PageMetadata | null, edit: MetadataEdit): PageMetadata | null | 'too_large' {
  const changed: PageMetadata = {};
  for (const list of grownLists) {
    const has = listIn(known?.[list]);
    const added: readonly unknown[] = edit[`add_${list}`] ?? [];
    // Two highlights may have the same quote.
    const idOf = list === 'tags' ? keyOf : (element: unknown) => JSON.stringify(element);
    const unwanted = new Set((edit[`remove_${list}`] ?? []).map(idOf));
    const [gone, kept] = [true, false].map((isGone) => has.filter((element) => unwanted.has(idOf(element)) === isGone));
    const present = new Set(kept.map(idOf));
    const fresh = added
      .map((element) => (typeof element === 'string' ? element.replace(/\s+/g, ' ').trim() : element))
      .filter((element) => !present.has(idOf(element)) && present.add(idOf(element)));
    if (gone.length === 0 && fresh.length === 0) continue;
    changed[list] = [...kept, ...fresh];
    const wanted = new Set([...kept, ...fresh].map(keyOf));
    const before = listIn(known?.[`removed_${list}`]);
    const out = distinct(before, gone).filter((element) => !wanted.has(keyOf(element)));
    if (before.length > 0 || out.length > 0) changed[`removed_${list}`] = out.slice(-maxRemoved);
  }
  const { note } = edit;
  const text = note?.trim() ?? '';
  if (note !== undefined && text !== (known?.note ?? '')) changed.note = text;
  if (Object.keys(changed).length === 0) return known;
  const both = { ...known, ...changed };
  return faultsOf(both).length === 0 ? both : 'too_large';
}
