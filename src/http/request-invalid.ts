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

/** Parts told of the way to a fault. */
const maxPathLength = 66;

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

export const encodingInvalid = (encoding: string): RequestInvalidError =>
  bodyInvalid(`Content-Encoding ${cut(encoding)} is not supported: send the body as it is`, 'content_encoding_invalid');

/** A key that no body may hold, and the way to it; of a long way the beginning is told. */
export function keyInvalid(path: readonly (string | number)[]): RequestInvalidError {
  const loc = ['body', ...path.slice(0, maxPathLength).map((part) => (typeof part === 'string' ? cut(part) : part))];
  return new RequestInvalidError([{ loc, msg: `The key "${path.at(-1)}" is not allowed`, type: 'key_invalid' }]);
}
