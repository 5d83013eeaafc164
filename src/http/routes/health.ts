/** Liveness and readiness: contract "Events, admin, diagnostics". Both are public. */
import { z } from 'zod';
import { whoAmIResponse } from '../../domain/access.ts';
import { clientSignal } from '../client-sockets.ts';
import { holderOf, needsRead, type RouteGroup } from '../http-app.ts';

const health = z.strictObject({ status: z.literal('ok') });
const ready = z.strictObject({
  status: z.literal('ready'),
  features: z.strictObject({ batch_ingest: z.literal(true), batch_status: z.literal(true) }),
  index: z.strictObject({
    state: z.enum(['whole', 'rebuilding']).describe('rebuilding: searches miss content that is not restored yet'),
    indexed_chunks: z.int(),
    total_chunks: z.int(),
  }),
});
const unavailable = z.strictObject({ status: z.literal('unavailable'), reason: z.string() });

/** Max wait, ms. A system that does not answer counts as not ready. */
const readinessTimeoutMs = 2_000;

export const healthRoutes: RouteGroup = (app, { readiness }) => {
  app.get(
    '/healthz',
    {
      config: { scope: 'public' },
      schema: {
        operationId: 'get_health',
        summary: 'Whether the process is alive',
        security: [],
        response: { 200: health },
      },
    },
    async () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      config: { scope: 'public' },
      schema: {
        operationId: 'get_readiness',
        summary: 'Whether the service accepts pages and answers searches',
        security: [],
        response: { 200: ready, 503: unavailable },
      },
    },
    async (request, reply) => {
      const signal = AbortSignal.any([clientSignal(reply), AbortSignal.timeout(readinessTimeoutMs)]);
      const unreadiness = (reason: string) => reply.code(503).send({ status: 'unavailable' as const, reason });
      try {
        const { store, trouble, activeModel, index } = await readiness(signal);
        if (!store) return unreadiness('metadata store unavailable');
        if (trouble !== null) return unreadiness(`metadata store unavailable: ${trouble}`);
        if (activeModel === null) return unreadiness('no active embedding model');
        const features = { batch_ingest: true as const, batch_status: true as const };
        return { status: 'ready' as const, features, index };
      } catch (error) {
        if (!reply.raw.destroyed) request.log.warn({ err: error }, 'the system does not report its readiness');
        return unreadiness('metadata store unavailable');
      }
    },
  );
};

export const whoAmIRoutes: RouteGroup = (app) => {
  app.get(
    '/v1/whoami',
    needsRead({
      operationId: 'whoami',
      summary: 'Name and scopes of the token',
      response: { 200: whoAmIResponse },
    }),
    async (request) => {
      const { name, scopes } = holderOf(request);
      return { name, scopes };
    },
  );
};

export const openapiRoutes: RouteGroup = (app) => {
  app.get(
    '/openapi.json',
    needsRead({
      operationId: 'get_openapi',
      summary: 'This document',
      response: { 200: z.record(z.string(), z.unknown()) },
    }),
    async () => ({ ...app.swagger() }),
  );
};
