/**
 * Maps error codes to statuses and bodies; no other file does (contract "Errors"). Unexpected errors are logged and
 * answered 500 without their text.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DomainError, type ErrorCode } from '../domain/errors.ts';
import { TooManyValuesError } from './json-body.ts';
import { bodyInvalid, RequestInvalidError, ruleBroken } from './request-invalid.ts';

/** The body of every error but validation and blacklist, and of broken ingest rules. */
export const errorResponse = z.strictObject({ detail: z.string() });

export const unauthenticated = { detail: 'missing or invalid bearer token' } as const;

export const statusOf: Readonly<Record<ErrorCode, number>> = {
  not_found: 404,
  conflict: 409,
  invalid: 422,
  no_active_model: 503,
  store_unavailable: 503,
  extraction_unavailable: 501,
  overloaded: 503,
  over_quota: 507,
  rate_limited: 429,
  shutting_down: 503,
};

/** Seconds to wait if the error does not specify it. */
const defaultRetryAfterS: Partial<Record<ErrorCode, number>> = {
  store_unavailable: 5,
  overloaded: 1,
  rate_limited: 60,
};

const clientGone = 499;

const isFastifyError = (error: unknown): error is FastifyError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_ERR_');

function answerFastify(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return reply.code(413).send({ detail: `the body is larger than ${request.routeOptions.bodyLimit} bytes` });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return answerError(
        bodyInvalid('The content type must be application/json', 'content_type_invalid'),
        request,
        reply,
      );
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return reply.code(404).send({ detail: 'no such route' });
    default:
      return reply.code(error.statusCode ?? 500).send({ detail: error.message });
  }
}

function answerDomain(error: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.code === 'invalid' && request.routeOptions.config.namesCauseInWords !== true)
    return answerError(ruleBroken(request.method, error.message), request, reply);
  const retryAfterS = error.retryAfterS ?? defaultRetryAfterS[error.code];
  if (retryAfterS !== undefined) reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterS))));
  return reply.code(statusOf[error.code]).send({ detail: error.message });
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof RequestInvalidError) return reply.code(422).send({ detail: error.detail });
  if (error instanceof TooManyValuesError) return reply.code(413).send({ detail: error.message });
  if (reply.raw.destroyed) return reply.code(clientGone).send({ detail: 'the client has gone' });
  if (error instanceof DomainError) return answerDomain(error, request, reply);
  if (isFastifyError(error) && (error.statusCode ?? 500) < 500) return answerFastify(error, request, reply);
  request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed unexpectedly');
  return reply.code(500).send({ detail: 'internal error' });
}

/** The same for a stream that has begun. */
export function eventOfError(error: unknown, request: FastifyRequest): { status: number; detail: string } {
  if (error instanceof DomainError) return { status: statusOf[error.code], detail: error.message };
  request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed unexpectedly');
  return { status: 500, detail: 'internal error' };
}
