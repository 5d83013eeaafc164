/**
 * Declares a setting: a zod schema with default and description, the only source of error messages and
 * docs/settings.md. `secret` hides values in both.
 */
import { z } from 'zod';

export interface SettingMeta {
  description: string;
  /** Hidden in error messages and settings routes. */
  secret?: boolean;
  /** Accepted values, beyond the schema's bounds. */
  rule?: string;
  /** Documentation of a default computed from the environment. */
  defaultText?: string;
}

export const integer = (fallback: number, min: number, description: string, max?: number) =>
  (max === undefined ? z.int().min(min) : z.int().min(min).max(max)).default(fallback).meta({ description });

export const aboveZero = (fallback: number, description: string) =>
  z.number().positive().default(fallback).meta({ description });

export const share = (fallback: number, description: string) =>
  z.number().min(0).max(1).default(fallback).meta({ description });

export const aboveZeroOrNone = (description: string) =>
  z.number().positive().nullable().default(null).meta({ description });

export const flag = (fallback: boolean, description: string) => z.boolean().default(fallback).meta({ description });

export const text = (fallback: string, description: string) =>
  z.string().min(1).default(fallback).meta({ description });

export const textOrNone = (description: string) => z.string().min(1).nullable().default(null).meta({ description });

export const secretOrNone = (description: string) =>
  z.string().min(1).nullable().default(null).meta({ description, secret: true });

export const textList = (fallback: readonly string[], description: string) =>
  z
    .array(z.string().min(1))
    .default([...fallback])
    .meta({ description });

export const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  fallback: Values[number],
  description: string,
) => {
  const schema: z.ZodType<Values[number]> = z.enum(values);
  return schema.default(() => fallback).meta({ description });
};

function isHttpUrl(value: string): boolean {
  try {
    const { protocol, username, password } = new URL(value);
    decodeURIComponent(username + password);
    return protocol === 'http:' || protocol === 'https:';
  } catch {
    // Neither constructor nor decoder can report this otherwise.
    return false;
  }
}

/** An http or https address, or none. Its user, password and parameters are stored as secrets. */
export const addressOrNone = (description: string) =>
  z.string().refine(isHttpUrl).nullable().default(null).meta({ description, rule: 'an http or https address' });
