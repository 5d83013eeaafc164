/**
 * What is wrong inside a setting that is a list: the place and the kind of fault, in words of the schema only. Values are never
 * repeated, nor names of unknown fields, since either may be a secret.
 */
import type { z } from 'zod';

/** Faults listed of one setting. */
const maxFaults = 10;

function placeOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.join('');
}

function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'has an unknown field';
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : 'is of another type';
    case 'invalid_value':
      return 'is not one of the allowed values';
    case 'too_small':
      return issue.origin === 'array' || issue.origin === 'string' ? 'is empty' : 'is too small';
    default:
      return 'is not valid';
  }
}

/** The faults below the setting at `path`, entries counted from 0; none where the setting as a whole is of another type. */
export function innerFaults(path: readonly string[], issues: readonly z.core.$ZodIssue[]): string[] {
  return issues
    .filter((issue) => typeof issue.path[path.length] === 'number' && path.every((key, at) => issue.path[at] === key))
    .slice(0, maxFaults)
    .map((issue) => `${placeOf(issue.path.slice(path.length))} ${wordsOf(issue)}`);
}
