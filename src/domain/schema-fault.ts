/** Faults of requests (`http/request-invalid.ts`) and batch items. Contains no values; field names are shortened. */
import type { z } from 'zod';

export interface SchemaFault {
  path: (string | number)[];
  msg: string;
  type: string;
  ctx?: Record<string, unknown>;
}

const maxFaults = 50;
const maxNameLength = 100;

export const cutName = (text: string): string =>
  text.length > maxNameLength ? `${text.slice(0, maxNameLength)}…` : text;

/** The first faults of a value. It must have been parsed with `reportInput`. */
export function schemaFaults(error: z.ZodError): SchemaFault[] {
  const faults = error.issues.slice(0, maxFaults).flatMap(faultsOf);
  return faults.slice(0, maxFaults).map((fault) => ({ ...fault, msg: cutName(fault.msg) }));
}

function faultsOf(issue: z.core.$ZodIssue): SchemaFault[] {
  const { message: msg, code: type } = issue;
  const path = issue.path.map((part) => (typeof part === 'number' ? part : cutName(String(part))));
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, maxFaults)
        .map((key) => ({ path: [...path, cutName(key)], msg: 'Unknown field', type: 'extra_forbidden' }));
    case 'invalid_type':
      return issue.input === undefined
        ? [{ path, msg: 'Field required', type: 'missing' }]
        : [{ path, msg, type, ctx: { expected: issue.expected } }];
    case 'invalid_value':
      return [{ path, msg, type, ctx: { expected: issue.values.map(String) } }];
    case 'too_small':
      return [{ path, msg, type, ctx: { minimum: Number(issue.minimum) } }];
    case 'too_big':
      return [{ path, msg, type, ctx: { maximum: Number(issue.maximum) } }];
    default:
      return [{ path, msg, type }];
  }
}
