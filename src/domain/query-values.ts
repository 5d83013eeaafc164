/** Values in query strings, which come as text: integers in decimal digits and within bounds, and truth values. */
import { z } from 'zod';

const decimal = /^-?\d+$/;

const fromDecimal = (sent: unknown): unknown => (typeof sent === 'string' && decimal.test(sent) ? Number(sent) : sent);

/**
 * The schema of an integer that comes as text. Nothing sent gives the default; an empty text, `0x10`, `1e1`, `1.0` and a
 * parameter that is sent twice are refused.
 */
export const queryInteger = ({ min, max, byDefault }: { min: number; max: number; byDefault: number }) =>
  z.preprocess(fromDecimal, z.int().min(min).max(max).default(byDefault));

/** The same without a default: nothing sent is nothing. */
export const optionalQueryInteger = ({ min, max }: { min: number; max: number }) =>
  z.preprocess(fromDecimal, z.int().min(min).max(max).optional());

/** In a query string: which part of a list is wanted, all of it where neither is given. The answer then has `total`, too. */
export const listPart = {
  offset: optionalQueryInteger({ min: 0, max: 2 ** 31 - 1 }),
  limit: optionalQueryInteger({ min: 1, max: 1000 }),
};
export interface ListPart {
  offset?: number | undefined;
  limit?: number | undefined;
}

export const isPart = ({ offset, limit }: ListPart) => offset !== undefined || limit !== undefined;

/** How clients write truth values: JavaScript `true`, Python `True`, command lines and forms `1`. */
const truthValues: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** The schema of a truth value that comes as text, in any case. Nothing sent gives the default; other words are refused. */
export const queryBoolean = ({ byDefault }: { byDefault: boolean }) =>
  z.preprocess(
    (sent) => (typeof sent === 'string' ? (truthValues.get(sent.toLowerCase()) ?? sent) : sent),
    z.boolean().default(byDefault),
  );
