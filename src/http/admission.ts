/**
 * What happens to every request before any work: where it comes from (403), which origins may read the answer, who sends it (401), what
 * that one may do (403), and whether there is such a route (404, told only to those who may ask). It also makes sure that every route says
 * who may call it.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../access/access.ts';
import { allowOrigin } from './cors.ts';
import { presentedBy } from './credentials.ts';
import { unauthenticated } from './errors.ts';
import { type GuardSettings, hostGuard } from './host-guard.ts';
import type { RouteEntry } from './http-app.ts';
import { isPassedOn, type Peers, passOnToOwners } from './pass-on.ts';

/** A body up to this is read and dropped, so that the connection can go on; above, the connection is closed. */
const droppedBodyBytes = 64 * 1024;

function refuse(request: FastifyRequest, reply: FastifyReply, status: number, body: { detail: string }): FastifyReply {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding !== undefined || Number(length ?? 0) > droppedBodyBytes) reply.header('connection', 'close');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(status).send(body);
}

/** The check of one request: null lets it pass, else it has been answered. */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

function admission(settings: GuardSettings, access: Access, peers: Peers | null): Admit {
  const guard = hostGuard(settings);
  // The host that passes a request on has looked at where it comes from.
  const foreign = (raw: IncomingMessage) => (peers !== null && isPassedOn(raw, peers) ? null : guard(raw));
  return (request, reply) => {
    const objection = foreign(request.raw);
    if (objection !== null) return refuse(request, reply, 403, { detail: objection });
    if (allowOrigin(request, reply, access)) return reply;
    const { scope } = request.routeOptions.config;
    if (scope === 'public') return null;
    const holder = presentedBy(request.raw, access);
    if (holder === null) return refuse(request, reply, 401, unauthenticated);
    if (scope === undefined) return refuse(request, reply, 404, { detail: 'no such route' });
    if (!holder.scopes.includes(scope))
      return refuse(request, reply, 403, { detail: `token lacks required scope: ${scope}` });
    request.holder = holder;
    request.vouch();
    return null;
  };
}

/** Install the checks, before any route is registered. Returns the check for requests that never reach the router. */
export function admitOnly(
  app: FastifyInstance,
  settings: GuardSettings,
  { access, peers }: { access: Access; peers: Peers | null },
): Admit {
  const admit = admission(settings, access, peers);
  const table: RouteEntry[] = [];
  app.decorate('routeTable', table);
  app.decorateRequest('holder', null);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.scope === undefined) throw new TypeError(`route ${String(method)} ${url} does not say who may call it`);
    for (const each of [method].flat()) table.push({ method: each, url, scope: config.scope });
  });
  if (peers !== null) passOnToOwners(app, { access, peers, isForeign: hostGuard(settings) });
  app.addHook('onRequest', async (request, reply) => admit(request, reply) ?? undefined);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ detail: 'no such route' }));
  return admit;
}
