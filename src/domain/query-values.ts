/** Values of query strings: decimal integers within bounds, and booleans. */
import { z } from 'zod';

const decimal = /^-?\d+$/;

const fromDecimal = (sent: unknown): unknown => (typeof sent === 'string' && decimal.test(sent) ? Number(sent) : sent);

/** The default applies if absent; an empty text, `0x10`, `1e1`, `1.0` and repeated parameters are refused. */
export const queryInteger = ({ min, max, byDefault }: { min: number; max: number; byDefault: number }) =>
  z.preprocess(fromDecimal, z.int().min(min).max(max).default(byDefault));

export const optionalQueryInteger = ({ min, max }: { min: number; max: number }) =>
  z.preprocess(fromDecimal, z.int().min(min).max(max).optional());

/** A part of a list, all by default. With either, the answer has `total`. */
export const listPart = {
  offset: optionalQueryInteger({ min: 0, max: 2 ** 31 - 1 }),
  limit: optionalQueryInteger({ min: 1, max: 1000 }),
};
export interface ListPart {
  offset?: number | undefined;
  limit?: number | undefined;
}

export const isPart = ({ offset, limit }: ListPart) => offset !== undefined || limit !== undefined;

/** JavaScript `true`, Python `True`, command lines and forms `1`. */
const truthValues: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export const queryBoolean = ({ byDefault }: { byDefault: boolean }) =>
  z.preprocess(
    (sent) => (typeof sent === 'string' ? (truthValues.get(sent.toLowerCase()) ?? sent) : sent),
    z.boolean().default(byDefault),
  );
