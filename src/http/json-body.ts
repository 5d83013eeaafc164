/** Reads JSON bodies; an empty one means `{}`. Bad types, JSON, UTF-8 and `__proto__` get 422, too many values 413. */

import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import { prototypeKeyPath } from '../domain/prototype-key.ts';
import type { LoopShare } from './loop-share.ts';
import { bodyInvalid, encodingInvalid, keyInvalid } from './request-invalid.ts';

/** Bytes, for routes that write, except the batch: design "body limits". */
export const bodyLimit = 16 * 1024 * 1024;
/** For routes that only read. 20 queries of 4,000 characters with 12 escaped bytes have 960,000. */
export const readBodyLimit = 1024 * 1024;
/** Before authentication: a code, or a token of the max header length. */
export const unauthenticatedBodyLimit = 32 * 1024;
export const batchBodyLimit = 64 * 1024 * 1024;

/** Bytes of the limit per value. Checking 131,072 values takes up to 1 s; parsing 63 MB of `{},` took 2 GB. */
const bytesPerValue = 128;

/** Values (array elements and object members) for a limit in bytes. */
export function valueLimit(bodyLimit: number): number {
  return Math.floor(bodyLimit / bytesPerValue);
}

/** Answered with 413, so that clients split their batches. */
export class TooManyValuesError extends Error {
  constructor(most: number) {
    super(`the body contains more than ${most} values`);
    this.name = 'TooManyValuesError';
  }
}

type Done = (error: Error | null, body?: unknown) => void;

/** RFC 8259 lets a reader ignore a byte order mark. */
const byteOrderMark = '\ufeff';
/** Matches the key `__proto__`, plain or escaped. Most texts contain neither. */
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

/** Length parsed without a break: some 0.1 ms, plus the checks. */
const parsedAtOnce = 64 * 1024;

export function acceptJsonOnly(app: FastifyInstance, share: LoopShare): void {
  app.removeAllContentTypeParsers();
  app.addHook('onRoute', (route) => {
    if (route.config?.scope === 'read') route.bodyLimit ??= readBodyLimit;
  });
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

const { FST_ERR_CTP_BODY_TOO_LARGE, FST_ERR_CTP_INVALID_CONTENT_LENGTH } = errorCodes;

/** Null for invalid UTF-8. Errors: Fastify's for a body that is too large or of the wrong length; those of the stream. */
function readBodyText(
  { headers, routeOptions }: FastifyRequest,
  payload: NodeJS.ReadableStream,
  done: (error: Error | null, text: string | null) => void,
): void {
  const limit = routeOptions.bodyLimit;
  const announced = headers['content-length'] === undefined ? null : Number(headers['content-length']);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text: string | null = '';
  let length = 0;
  const finish = (error: Error | null) => {
    payload.off('data', take).off('end', end).off('error', finish);
    done(error, error === null ? text : null);
  };
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > limit) finish(new FST_ERR_CTP_BODY_TOO_LARGE());
    else append(piece);
  };
  const append = (piece?: Buffer) => {
    try {
      if (text !== null) text += decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      text = null;
    }
  };
  const end = () => {
    append();
    finish(announced === null || length === announced ? null : new FST_ERR_CTP_INVALID_CONTENT_LENGTH());
  };
  if (announced !== null && announced > limit) finish(new FST_ERR_CTP_BODY_TOO_LARGE());
  else payload.on('data', take).on('end', end).on('error', finish).resume();
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

const opens = (code: number): boolean => code === 0x5b || code === 0x7b;
const closes = (code: number): boolean => code === 0x5d || code === 0x7d;

/** Whether a JSON text has more than `most` elements and members at all depths. Undefined for invalid JSON. */
export function holdsMoreThan(most: number, json: string): boolean {
  if (json.length <= most) return false;
  let held = 0;
  /** Whether the last token opened a bracket, so that its first value follows. */
  let opened = false;
  for (let at = 0; at < json.length && held <= most; at++) {
    const code = json.charCodeAt(at);
    if (code <= SPACE) continue;
    if (code === COMMA || (opened && !closes(code))) held++;
    opened = opens(code);
    if (code === QUOTE) at = closingQuote(json, at);
  }
  return held > most;
}

/** The end of the string that begins at `from`, or the text's length. */
function closingQuote(json: string, from: number): number {
  let at = json.indexOf('"', from + 1);
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf('"', at + 1);
  return at === -1 ? json.length : at;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
