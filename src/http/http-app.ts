import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Access, Holder } from '../access/access.ts';
import type { CodePurpose, RouteScope } from '../domain/access.ts';
import type { BackupListResponse, NewBackupResponse } from '../domain/backup.ts';
import type { Capabilities } from '../domain/capabilities.ts';
import type { Ask, Readiness } from '../domain/messages.ts';
import type { ShownSettings } from '../settings/shown-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ClientPace } from './client-sockets.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route without a scope is not registered. */
    scope?: RouteScope;
    /** The body's array whose items the service validates one by one. */
    itemsField?: string;
    /** Contract "Errors": ingest rules name their cause in `detail` as a string. */
    namesCauseInWords?: boolean;
    /** The body is a file, streamed and never buffered. */
    takesFile?: boolean;
    /** The body contains the code or token that identifies the library. */
    takesCredential?: CodePurpose;
    /** About the host: a cluster host that knows the credential answers it itself. */
    isOfHost?: boolean;
  }
  interface FastifyRequest {
    /** Null on public routes. */
    holder: Holder | null;
    /** Mark the connection as authenticated: others end first when there are too many. */
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
  /** The same, aborted when the client disconnects. */
  asking(reply: FastifyReply): Ask;
  pace: ClientPace;
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
