/**
 * Reading bodies: JSON in UTF-8 and nothing else. Refused with 422 are other types, broken JSON, invalid UTF-8, and objects whose
 * keys (`__proto__`, `constructor.prototype`) would change other objects when copied. An empty body stands for `{}`.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyInvalid } from './request-invalid.ts';

/** Bytes of a body, everywhere but the batch: design "body limits". */
export const bodyLimit = 16 * 1024 * 1024;
/** Bytes of a batch of pages. */
export const batchBodyLimit = 64 * 1024 * 1024;

type Done = (error: Error | null, body?: unknown) => void;

export function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  const parser = (request: FastifyRequest, body: Buffer, done: Done): void => {
    if (body.length === 0) done(null, undefined);
    else if (!isUtf8(body)) done(bodyInvalid('The body is not UTF-8', 'encoding_invalid'));
    else parseJson(request, body.toString('utf8'), done);
  };
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parser);
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.headers['content-type'] === undefined || body.length === 0) parser(request, body, done);
    else done(bodyInvalid('The content type must be application/json', 'content_type_invalid'));
  });
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined) request.body = {};
  });
}
