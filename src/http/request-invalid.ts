/** Validation errors as the contract's HTTPValidationError, without the input, which may be huge or secret. */
import { z } from 'zod';
import { cutName, schemaFaults } from '../domain/schema-fault.ts';

const validationError = z.strictObject({
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
  type: z.string(),
  ctx: z.record(z.string(), z.unknown()).optional(),
});
export type ValidationError = z.infer<typeof validationError>;
export const httpValidationError = z.strictObject({ detail: z.array(validationError) });

export class RequestInvalidError extends Error {
  readonly detail: ValidationError[];

  constructor(detail: ValidationError[]) {
    super('the request does not fit its schema');
    this.name = 'RequestInvalidError';
    this.detail = detail;
  }
}

const maxPathLength = 66;

/** Fastify's name for the place of a fault → the first part of `loc`. */
const places: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
};

export function checkAgainst(schema: z.ZodType, httpPart: string) {
  const place = places[httpPart] ?? httpPart;
  return (data: unknown): { value: unknown } | { error: Error } => {
    const result = schema.safeParse(data, { reportInput: true });
    if (result.success) return { value: result.data };
    const detail = schemaFaults(result.error).map(({ path, ...fault }) => ({ loc: [place, ...path], ...fault }));
    return { error: new RequestInvalidError(detail) };
  };
}

export const bodyInvalid = (msg: string, type: string): RequestInvalidError =>
  new RequestInvalidError([{ loc: ['body'], msg, type }]);

/** A broken rule that the schema cannot express, such as an unknown model. */
export const ruleBroken = (method: string, msg: string): RequestInvalidError =>
  new RequestInvalidError([{ loc: [method === 'GET' ? 'query' : 'body'], msg, type: 'value_error' }]);

export const encodingInvalid = (encoding: string): RequestInvalidError =>
  bodyInvalid(
    `Content-Encoding ${cutName(encoding)} is not supported: send the body as it is`,
    'content_encoding_invalid',
  );

/** A forbidden key and its path, shortened to the max length. */
export function keyInvalid(path: readonly (string | number)[]): RequestInvalidError {
  const loc = [
    'body',
    ...path.slice(0, maxPathLength).map((part) => (typeof part === 'string' ? cutName(part) : part)),
  ];
  return new RequestInvalidError([{ loc, msg: `The key "${path.at(-1)}" is not allowed`, type: 'key_invalid' }]);
}
