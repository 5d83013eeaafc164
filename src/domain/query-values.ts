/** Integers in query strings: decimal digits, within bounds. */
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
