/** The types that routes share: the Fastify instance with zod schemas, what a route declares, and what it is given. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Access, Holder } from '../access/access.ts';
import type { CodePurpose, RouteScope } from '../domain/access.ts';
import type { BackupListResponse, BackupResponse } from '../domain/backup.ts';
import type { Capabilities } from '../domain/capabilities.ts';
import type { Ask, Readiness } from '../domain/messages.ts';
import type { ShownSettings } from '../settings/shown-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call. A route without it is not registered. */
    scope?: RouteScope;
    /** The body's array whose items are judged one by one, by the service that takes them. */
    itemsField?: string;
    /** Contract "Errors": the rules of ingest name their cause in `detail` as a string, not in a list of faults. */
    namesCauseInWords?: boolean;
    /** The body is a file, which is handed on as it comes and never held. */
    takesFile?: boolean;
    /** The body has the code or token that says which library the request is for. */
    takesCredential?: CodePurpose;
    /** It tells of the host: one of a cluster that knows the credential itself does not pass it on. */
    isOfHost?: boolean;
  }
  interface FastifyRequest {
    /** Set once token or session is known; null on public routes. */
    holder: Holder | null;
    /** Say that it has shown a good token: connections without one are the first to end where there are too many. */
    vouch: () => void;
  }
  interface FastifyInstance {
    /** Every route there is, as it was registered. */
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
  /** Asks the library that the request's token is of. */
  ask(request: FastifyRequest): Ask;
  /** The same, and gives up when the client has gone. */
  asking(reply: FastifyReply): Ask;
  /** Of the libraries together. */
  readiness(signal: AbortSignal): Promise<Readiness>;
  access: Access;
  /** Folder of the console's files. */
  consoleDir: string;
  metrics: Metrics;
  /** Between two keep-alive comments of the event stream, ms. */
  heartbeatMs: number;
  /** Of this software. */
  version: string;
  /** Whether tools that change something are listed. */
  listsMutatingTools: boolean;
  /** What `GET /v1/admin/config` answers, but for the capabilities, to the tokens of a library. */
  shownSettings(library: string): ShownSettings;
  backups: BackupMaker;
  /** Programs beside the service that it can use. */
  capabilities: () => Promise<Capabilities>;
}

/** Makes and lists the backups of a library, by its name. */
export interface BackupMaker {
  /** Errors: DomainError `conflict` while one is made, `store_unavailable` with the reason where none could be. */
  make(library: string): Promise<BackupResponse>;
  /** Newest first, at most a hundred. */
  list(library: string): Promise<BackupListResponse>;
}

/** Who asks, on a route that has a scope. */
export function holderOf({ holder }: FastifyRequest): Holder {
  if (holder === null) throw new TypeError('a route with a scope was called without a token');
  return holder;
}

/** Registers the routes of one group. */
export type RouteGroup = (app: HttpApp, context: RouteContext) => void;
