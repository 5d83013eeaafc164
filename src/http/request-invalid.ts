/**
 * A request that does not fit its schema, in the shape of the contract's HTTPValidationError. What was sent is not repeated:
 * it may be huge or secret, and the caller has it. Names of fields are cut.
 */
import { z } from 'zod';

export const validationError = z.strictObject({
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
  type: z.string(),
  ctx: z.record(z.string(), z.unknown()).optional(),
});
export type ValidationError = z.infer<typeof validationError>;
export const httpValidationError = z.strictObject({ detail: z.array(validationError) });

/** Faults listed of one request; the rest adds nothing. */
const maxFaults = 50;
/** Characters kept of a name or message that the caller chose. */
const maxNameLength = 100;

export class RequestInvalidError extends Error {
  readonly detail: ValidationError[];

  constructor(detail: ValidationError[]) {
    super('the request does not fit its schema');
    this.name = 'RequestInvalidError';
    this.detail = detail;
  }
}

/** Where Fastify says a fault is → the first part of `loc`. */
const places: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
};

const cut = (text: string): string => (text.length > maxNameLength ? `${text.slice(0, maxNameLength)}…` : text);

function faultsOf(place: string, issue: z.core.$ZodIssue): ValidationError[] {
  const loc = [place, ...issue.path.map((part) => (typeof part === 'number' ? part : cut(String(part))))];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, maxFaults)
        .map((key) => ({ loc: [...loc, cut(key)], msg: 'Unknown field', type: 'extra_forbidden' }));
    case 'invalid_type':
      return issue.input === undefined
        ? [{ loc, msg: 'Field required', type: 'missing' }]
        : [{ loc, msg: cut(issue.message), type: issue.code, ctx: { expected: issue.expected } }];
    case 'invalid_value':
      return [{ loc, msg: cut(issue.message), type: issue.code, ctx: { expected: issue.values.map(String) } }];
    case 'too_small':
      return [{ loc, msg: cut(issue.message), type: issue.code, ctx: { minimum: Number(issue.minimum) } }];
    case 'too_big':
      return [{ loc, msg: cut(issue.message), type: issue.code, ctx: { maximum: Number(issue.maximum) } }];
    default:
      return [{ loc, msg: cut(issue.message), type: issue.code }];
  }
}

/** A schema's check of one part of a request, as Fastify wants it. */
export function checkAgainst(schema: z.ZodType, httpPart: string) {
  const place = places[httpPart] ?? httpPart;
  return (data: unknown): { value: unknown } | { error: Error } => {
    const result = schema.safeParse(data, { reportInput: true });
    if (result.success) return { value: result.data };
    const detail = result.error.issues.slice(0, maxFaults).flatMap((issue) => faultsOf(place, issue));
    return { error: new RequestInvalidError(detail.slice(0, maxFaults)) };
  };
}

/** A body that could not be read as JSON at all. */
export const bodyInvalid = (msg: string, type: string): RequestInvalidError =>
  new RequestInvalidError([{ loc: ['body'], msg, type }]);
