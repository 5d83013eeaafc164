/** The HTTP server, not yet listening. It reaches the actor system only through `ask`. Built last, stopped first. */
import fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { isTraced, traced } from '../compute/span.ts';
import type { BodyRoom } from '../compute/structures/body-room.ts';
import type { Ask } from '../domain/messages.ts';
import { maxPathTextLength } from '../domain/values.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type Admit, admitOnly, type GuardSettings } from './admission.ts';
import { boundBodies, type DrainLimits, drainUnreadBodies } from './arriving-bodies.ts';
import { ClientPace, clientSignal, keepPace, oneAtATime, readBeforeTimeouts, unlessArrived } from './client-sockets.ts';
import * as limits from './connection-limits.ts';
import { answerError, type HttpApp, holderOf, type RouteContext, type RouteGroup } from './http-app.ts';
import { jsonOf } from './json-answer.ts';
import { acceptJsonOnly, bodyLimit } from './json-body.ts';
import { certificateIn, followCertificate } from './listen.ts';
import { LoopShare, shareLoop } from './loop-share.ts';
import { describeRoutes } from './openapi.ts';
import type { Peers } from './pass-on.ts';
import { checkAgainst } from './request-invalid.ts';
import { sessionRoutes, tokenRoutes } from './routes/access.ts';
import { adminRoutes, evaluationRoutes, metricsRoutes, queryLogRoutes } from './routes/admin.ts';
import { clusterRoutes } from './routes/clusters.ts';
import { consoleRoutes } from './routes/console.ts';
import { entityRoutes } from './routes/entities.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes, openapiRoutes, whoAmIRoutes } from './routes/health.ts';
import { importRoutes } from './routes/imports.ts';
import { jobRoutes } from './routes/jobs.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { modelRoutes } from './routes/models.ts';
import { blacklistRoutes, pageRoutes } from './routes/pages.ts';
import { searchRoutes } from './routes/search.ts';
import { watchRoutes } from './routes/watches.ts';

export interface ServerOptions
  extends GuardSettings,
    Omit<RouteContext, 'ask' | 'asking' | 'heartbeatMs' | 'listsMutatingTools'> {
  askOf: (name: string) => Ask;
  peers?: Peers | null;
  log: FastifyBaseLogger;
  events: Pick<Settings['events'], 'heartbeat_s'>;
  mcp: Settings['mcp'];
  tls?: Settings['tls'];
  bounds?: {
    maxConnections?: number;
    bodies?: BodyRoom;
    pace?: ClientPace;
    drain?: DrainLimits;
    /** Ms. */
    certificateLooks?: number;
  };
}

const routeGroups: readonly RouteGroup[] = [
  mcpRoutes,
  healthRoutes,
  metricsRoutes,
  whoAmIRoutes,
  sessionRoutes,
  tokenRoutes,
  pageRoutes,
  importRoutes,
  blacklistRoutes,
  jobRoutes,
  modelRoutes,
  searchRoutes,
  queryLogRoutes,
  evaluationRoutes,
  watchRoutes,
  clusterRoutes,
  eventRoutes,
  adminRoutes,
  entityRoutes,
  openapiRoutes,
  consoleRoutes,
];

function measure(app: HttpApp, { httpDuration }: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const labels = { method: request.method, route, status: reply.statusCode };
    httpDuration.observe(labels, reply.elapsedTime / 1000);
    request.log.debug({ ...labels, ms: Math.round(reply.elapsedTime * 100) / 100 }, 'answered');
  });
}

/** The span ends when the connection no longer needs the answer. */
function traceRequests(app: HttpApp): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!isTraced()) return done();
    const attributes = { 'http.route': request.routeOptions.url ?? 'none', 'request.id': request.id };
    void traced(`http ${request.method} ${attributes['http.route']}`, attributes, async () => {
      const closed = new Promise((resolve) => reply.raw.once('close', resolve));
      done();
      await closed;
    });
  });
}

/** Errors: `ready()` and `listen()` reject if a route lacks a scope. */
export function buildServer(options: ServerOptions): HttpApp {
  let admit: Admit = () => null;
  const app = fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    routerOptions: { maxParamLength: maxPathTextLength },
    serverFactory: (handle) => {
      const { tls, log, bounds } = options;
      const certificate = tls === undefined ? null : certificateIn(tls);
      const server = limits.createServer(oneAtATime(handle), certificate);
      if (tls !== undefined && certificate !== null)
        followCertificate(server, tls, { log, interval: bounds?.certificateLooks });
      return server;
    },
    // While closing, the service answers in its own error shape.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => {
      const refuse = () => limits.refuseMalformed(error, socket);
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') unlessArrived(socket, refuse);
      else refuse();
    },
    rewriteUrl: ({ url = '/' }) => url.replace(/^\/mcp\/(?=\?|$)/, '/mcp'),
    frameworkErrors: (error, request, reply) => {
      if (admit(request, reply) === null) answerError(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  readBeforeTimeouts(app.server);

  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => checkAgainst(schema, httpPart ?? 'body'));
  // Replies are typed by their schemas and checked in tests. Checking each would add 0.04 ms to a search and 0.07 ms to
  // a batch, of 0.13 and 1.1 ms (bench/http-layer.ts). Large ones pass unchanged: `keepPace` writes them.
  app.setSerializerCompiler(() => jsonOf as (value: unknown) => string);
  app.setErrorHandler(answerError);

  traceRequests(app);
  limits.limitConnections(app, options.bounds?.maxConnections);
  admit = admitOnly(app, options, { access: options.access, peers: options.peers ?? null });
  const share = new LoopShare();
  shareLoop(app, share);
  keepPace(app, share, options.bounds?.pace ?? new ClientPace());
  boundBodies(app, options.bounds?.bodies);
  acceptJsonOnly(app, share);
  drainUnreadBodies(app, options.bounds?.drain);
  measure(app, options.metrics);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });

  describeRoutes(app, options.version);
  const ask: RouteContext['ask'] = (request) => options.askOf(holderOf(request).library);
  const context: RouteContext = {
    ...options,
    ask,
    asking: (reply) => {
      const [library, signal] = [ask(reply.request), clientSignal(reply)];
      return (name, request) => library(name, request, { signal });
    },
    heartbeatMs: options.events.heartbeat_s * 1000,
    listsMutatingTools: options.mcp.enable_mutating_tools,
  };
  app.register(async (routes) => {
    for (const register of routeGroups) register(routes.withTypeProvider<ZodTypeProvider>(), context);
  });
  return app;
}
