import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Access, Holder } from '../access/access.ts';
import type { CodePurpose, RouteScope } from '../domain/access.ts';
import type { BackupListResponse, Capabilities, NewBackupResponse } from '../domain/admin.ts';
import { DomainError, type ErrorCode } from '../domain/errors.ts';
import type { Ask, Readiness } from '../domain/messages.ts';
import type { ShownSettings } from '../settings/shown-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { TooManyValuesError } from './json-body.ts';
import { bodyInvalid, httpValidationError, RequestInvalidError, ruleBroken } from './request-invalid.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route without a scope is not registered. */
    scope?: RouteScope;
    /** The body's array whose items the service validates one by one. */
    itemsField?: string;
    /** Whether errors of ingest rules have their cause in `detail` as a string: contract "Errors". */
    namesCauseInWords?: boolean;
    /** The body is a file, streamed and never buffered. */
    takesFile?: boolean;
    /** The body contains the code or token that identifies the library. */
    takesCredential?: CodePurpose;
    /** Whether the route is about the host: a cluster host that knows the credential answers it. */
    isOfHost?: boolean;
  }
  interface FastifyRequest {
    /** Null on public routes. */
    holder: Holder | null;
    /** Mark the connection as authenticated. If there are too many, others end first. */
    vouch: () => void;
  }
  interface FastifyInstance {
    routeTable: readonly RouteEntry[];
  }
}

export interface RouteEntry {
  method: string;
  url: string;
  scope: RouteScope;
}

export type HttpApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export interface RouteContext {
  /** Asks the library of the request's token. */
  ask(request: FastifyRequest): Ask;
  /** The same, but aborted when the client disconnects. */
  asking(reply: FastifyReply): Ask;
  readiness(signal: AbortSignal): Promise<Readiness>;
  access: Access;
  consoleDir: string;
  metrics: Metrics;
  /** Between keep-alive comments of the event stream, ms. */
  heartbeatMs: number;
  version: string;
  listsMutatingTools: boolean;
  /** The reply of `GET /v1/admin/config` for a library's tokens, without the capabilities. */
  shownSettings(library: string): ShownSettings;
  backups: BackupMaker;
  capabilities: () => Promise<Capabilities>;
}

export interface BackupMaker {
  /** Errors: DomainError `conflict` while a backup runs, `store_unavailable` with the reason of a failure. */
  make(library: string): Promise<NewBackupResponse>;
  /** Newest first, at most 100. */
  list(library: string): Promise<BackupListResponse>;
}

export function holderOf({ holder }: FastifyRequest): Holder {
  if (holder === null) throw new TypeError('a route with a scope was called without a token');
  return holder;
}

export type RouteGroup = (app: HttpApp, context: RouteContext) => void;

type OtherConfig = Omit<FastifyContextConfig, 'scope'>;

/** Options of a route for tokens that may read. */
export const needsRead = <Schema>(schema: Schema, config: OtherConfig = {}) => ({
  config: { ...config, scope: 'read' as const },
  schema,
});

/** The same for tokens that may write. */
export const needsWrite = <Schema>(schema: Schema, config: OtherConfig = {}) => ({
  config: { ...config, scope: 'write' as const },
  schema,
});

/** The body of every error but validation and blacklist, and of broken ingest rules. */
export const errorResponse = z.strictObject({ detail: z.string() });

export const unauthenticated = { detail: 'missing or invalid bearer token' } as const;

/** The only mapping of error codes to statuses (contract "Errors"). */
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

/** Seconds to wait if the error does not specify them. */
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

/** Unexpected errors are logged and answered 500 without their text. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof RequestInvalidError) return reply.code(422).send({ detail: error.detail });
  if (error instanceof TooManyValuesError) return reply.code(413).send({ detail: error.message });
  if (reply.raw.destroyed) return reply.code(clientGone).send({ detail: 'the client has gone' });
  if (error instanceof DomainError) return answerDomain(error, request, reply);
  if (isFastifyError(error) && (error.statusCode ?? 500) < 500) return answerFastify(error, request, reply);
  request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed unexpectedly');
  return reply.code(500).send({ detail: 'internal error' });
}

/** The same for a stream that has already begun. */
export function eventOfError(error: unknown, request: FastifyRequest): { status: number; detail: string } {
  if (error instanceof DomainError) return { status: statusOf[error.code], detail: error.message };
  request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed unexpectedly');
  return { status: 500, detail: 'internal error' };
}

const meanings = {
  401: 'missing or wrong bearer token',
  403: 'the token lacks the scope, or host or origin are not allowed',
  404: 'unknown id',
  409: 'not in this state',
  413: 'the body is too large, or contains too many values',
  422: 'the request is invalid',
  429: 'too many wrong attempts: try again later',
  501: 'no way to extract text from HTML',
  503: 'try again later, or nothing can answer this now',
  507: 'the storage quota is used up',
} as const;
type ErrorStatus = keyof typeof meanings;

export const described = <Schema extends z.ZodType>(status: ErrorStatus, schema: Schema) => ({
  description: meanings[status],
  content: { 'application/json': { schema } },
});

/** Error answers of a route in addition to the common ones. */
export function errorAnswers(...statuses: ErrorStatus[]) {
  return Object.fromEntries(
    statuses.map((status) => [status, described(status, status === 422 ? httpValidationError : errorResponse)]),
  );
}
