/** Values in query strings, which come as text: integers in decimal digits and within bounds, and the words true and false. */
import { z } from 'zod';

const decimal = /^-?\d+$/;

/**
 * The schema of an integer that comes as text. Nothing sent gives the default; an empty text, `0x10`, `1e1`, `1.0` and a
 * parameter that is sent twice are refused.
 */
export const queryInteger = ({ min, max, byDefault }: { min: number; max: number; byDefault: number }) =>
  z.preprocess(
    (sent) => (typeof sent === 'string' && decimal.test(sent) ? Number(sent) : sent),
    z.int().min(min).max(max).default(byDefault),
  );

/** The schema of a truth value that comes as text. Nothing sent gives the default; all but `true` and `false` is refused. */
export const queryBoolean = ({ byDefault }: { byDefault: boolean }) =>
  z.preprocess(
    (sent) => (sent === 'true' || sent === 'false' ? sent === 'true' : sent),
    z.boolean().default(byDefault),
  );
