/**
 * How a setting is declared: a zod schema with its default and one sentence for people. The sentence and the bounds in the
 * schema are the only source of the error messages and of docs/settings.md. `secret` keeps a value out of both.
 */
import { z } from 'zod';

export interface SettingMeta {
  description: string;
  /** Never shown: neither in error messages nor in the settings that routes may list. */
  secret?: boolean;
  /** What is accepted, where the bounds in the schema do not say it. */
  rule?: string;
  /** What the documentation says where the default is worked out from the environment. */
  defaultText?: string;
}

/** A whole number of at least `min`. */
export const integer = (fallback: number, min: number, description: string, max?: number) =>
  (max === undefined ? z.int().min(min) : z.int().min(min).max(max)).default(fallback).meta({ description });

/** A number above 0. */
export const aboveZero = (fallback: number, description: string) =>
  z.number().positive().default(fallback).meta({ description });

/** A number between 0 and 1, both included. */
export const share = (fallback: number, description: string) =>
  z.number().min(0).max(1).default(fallback).meta({ description });

/** A number above 0, or none. */
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
    // Neither constructor nor decoder has another way to say no.
    return false;
  }
}

/** An http or https address, or none. A user and password in it are taken out and kept with the secrets. */
export const addressOrNone = (description: string) =>
  z.string().refine(isHttpUrl).nullable().default(null).meta({ description, rule: 'an http or https address' });
