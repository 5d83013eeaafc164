/**
 * Reading bodies: JSON in UTF-8 and nothing else. Refused with 422 are other types and encodings, broken JSON, invalid UTF-8, and
 * the key `__proto__`, with 413 what holds too many values. An empty body stands for `{}`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { holdsMoreThan } from '../domain/json-values.ts';
import { prototypeKeyPath } from '../domain/prototype-key.ts';
import { readBodyText } from './body-text.ts';
import type { LoopShare } from './loop-share.ts';
import { bodyInvalid, encodingInvalid, keyInvalid } from './request-invalid.ts';

/** Bytes of a body, everywhere but the batch: design "body limits". */
export const bodyLimit = 16 * 1024 * 1024;
/** Of who is not known yet: a code, or a token as long as a header may be. */
export const strangersBodyLimit = 32 * 1024;
/** Bytes of a batch of pages. */
export const batchBodyLimit = 64 * 1024 * 1024;

/**
 * A body may hold one value for so many bytes that it may have: 131,072 values, and 524,288 in a batch. Text is what makes a body large. Parsing
 * 63 MB of `{},` took 2 GB and held the event loop for half a minute on a busy machine; the checks of 131,072 values take up to a second there.
 */
const bytesPerValue = 128;

/** Values, that is elements of arrays and members of objects, of a body that may have so many bytes. */
export function valueLimit(bodyLimit: number): number {
  return Math.floor(bodyLimit / bytesPerValue);
}

/** A body that holds more values than its limit of bytes allows: 413, so that a client that splits its batches does so. */
export class TooManyValuesError extends Error {
  constructor(most: number) {
    super(`the body holds more than ${most} values`);
    this.name = 'TooManyValuesError';
  }
}

type Done = (error: Error | null, body?: unknown) => void;

/** RFC 8259 lets a reader ignore a byte order mark. */
const byteOrderMark = '\ufeff';
/** Whether a text may hold the key `__proto__`, plain or with a letter of it escaped; most hold neither. */
const mayHoldPrototypeKey = /__proto__|\\u00[5-7]/i;

function parseJson(text: string, { bodyLimit, config }: FastifyRequest['routeOptions'], done: Done): void {
  const most = valueLimit(bodyLimit);
  if (holdsMoreThan(most, text)) {
    done(new TooManyValuesError(most));
    return;
  }
  let body: unknown;
  try {
    body = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch {
    // The parser's message quotes the body, which may be secret.
    done(bodyInvalid('The body is not JSON', 'json_invalid'));
    return;
  }
  const path = mayHoldPrototypeKey.test(text) ? prototypeKeyPath(body, config.itemsField) : null;
  if (path === null) done(null, body);
  else done(keyInvalid(path));
}

/** Length of a text that is parsed as the turn comes: some tenths of a millisecond, with its checks some more. */
const parsedAtOnce = 64 * 1024;

/** Have bodies parsed, large ones as their share of the event loop allows. */
export function acceptJsonOnly(app: FastifyInstance, share: LoopShare): void {
  app.removeAllContentTypeParsers();
  const parse = (request: FastifyRequest, text: string | null, done: Done): void => {
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (text === '') done(null, undefined);
    else if (encoding.toLowerCase() !== 'identity') done(encodingInvalid(encoding));
    else if (text === null) done(bodyInvalid('The body is not UTF-8', 'encoding_invalid'));
    else if (text.length <= parsedAtOnce) parseJson(text, request.routeOptions, done);
    else void share.nextTurn().then(() => parseJson(text, request.routeOptions, done));
  };
  app.addContentTypeParser('application/json', (request, payload, done) => {
    readBodyText(request, payload, (error, text) => (error === null ? parse(request, text, done) : done(error)));
  });
  app.addContentTypeParser('*', (request, payload, done) => {
    readBodyText(request, payload, (error, text) => {
      const isUntyped = request.headers['content-type'] === undefined;
      if (error === null && (isUntyped || text === '')) parse(request, text, done);
      else done(error ?? bodyInvalid('The content type must be application/json', 'content_type_invalid'));
    });
  });
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined) request.body = {};
  });
}
