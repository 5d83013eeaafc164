/**
 * Checks before any work: origin (403), CORS, credentials (401), scope (403); the route (404) last, so that clients
 * without credentials do not learn which routes exist. Every route must declare its scope.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../access/access.ts';
import { headerValues, isOriginOf, presentedBy } from './credentials.ts';
import { type RouteEntry, unauthenticated } from './http-app.ts';
import { isPassedOn, type Peers, passOnToOwners } from './pass-on.ts';

/** A body up to this size is read and dropped to keep the connection. For a larger one the connection is closed. */
const droppedBodyBytes = 64 * 1024;

function refuse(request: FastifyRequest, reply: FastifyReply, status: number, body: { detail: string }): FastifyReply {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding !== undefined || Number(length ?? 0) > droppedBodyBytes) reply.header('connection', 'close');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(status).send(body);
}

export type Admit = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

function admission(settings: GuardSettings, access: Access, peers: Peers | null): Admit {
  const guard = hostGuard(settings);
  // The host that passed a request on has checked its origin.
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

/** Install the checks before any route is registered. Returns the check for requests that do not reach the router. */
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
    if (config?.scope === undefined) throw new TypeError(`route ${String(method)} ${url} has no scope`);
    for (const each of [method].flat()) table.push({ method: each, url, scope: config.scope });
  });
  if (peers !== null) passOnToOwners(app, { access, peers, isForeign: hostGuard(settings) });
  app.addHook('onRequest', async (request, reply) => admit(request, reply) ?? undefined);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ detail: 'no such route' }));
  return admit;
}

/** CORS: paired extensions may read answers, and any extension while it pairs. Web pages may not. This does not admit requests. */
const extensionOrigin = /^(?:chrome|moz|safari-web|ms-browser|edge)-extension:\/\/[^/\s]+$/i;
const isExtension = (origin: string): boolean => extensionOrigin.test(origin);

const preflightMaxAgeS = 600;

/** Set the CORS headers. True for a preflight, which has been answered. */
function allowOrigin(request: FastifyRequest, reply: FastifyReply, access: Access): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !isExtension(origin)) return false;
  const isPairing = request.url.split('?')[0] === '/v1/pair';
  if (!isPairing && !access.isPairedOrigin(origin)) return false;
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'retry-after',
    vary: 'origin',
  });
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  reply.headers({
    'access-control-allow-methods': isPairing ? 'POST' : 'GET, POST, PATCH, DELETE',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': String(preflightMaxAgeS),
  });
  reply.code(204).send();
  return true;
}

/**
 * Guards against DNS rebinding and foreign pages (design "Host / Origin"). Host, checked on loopback only: loopback or
 * an allowed host. Origin, if sent: loopback, an extension, an allowed one, or a page of the allowed host itself.
 */
export interface GuardSettings {
  bind_host: string;
  allowed_hosts: readonly string[];
  allowed_origins: readonly string[];
}

const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const loopbackOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host.toLowerCase() === 'localhost' : loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

const hostOf = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address);

/** Returns why the origin of a request is refused, or null. */
function hostGuard(settings: GuardSettings): (request: IncomingMessage) => string | null {
  const checksHost = isLoopback(settings.bind_host);
  // The bound address, such as the loopback address 127.0.0.2, also names this service.
  const hosts = new Set([...settings.allowed_hosts, hostOf(settings.bind_host)].map((host) => host.toLowerCase()));
  const origins = new Set(settings.allowed_origins.map((origin) => origin.toLowerCase()));
  const hostAllowed = (host: string): boolean =>
    loopbackHost.test(host) || hosts.has(host.toLowerCase()) || hosts.has(host.toLowerCase().replace(/:\d{1,5}$/, ''));
  const originAllowed = (origin: string): boolean =>
    loopbackOrigin.test(origin) || isExtension(origin) || origins.has(origin.toLowerCase());
  // The console's page, on a host that the operator named. A rebound name cannot be such a host.
  const isOwnPage = (origin: string, [host = '']: string[], request: IncomingMessage): boolean =>
    hostAllowed(host) && isOriginOf(origin, request);
  return (request) => {
    // A full URL as request target would contain its own host.
    if (checksHost && request.url?.startsWith('/') === false && request.url !== '*') return 'host not allowed';
    const host = headerValues(request, 'host');
    if (checksHost && (host.length !== 1 || !hostAllowed(host[0]))) return 'host not allowed';
    const origin = headerValues(request, 'origin');
    const isForeign = ([sent]: string[]) => !originAllowed(sent) && !isOwnPage(sent, host, request);
    if (origin.length > 1 || (origin.length === 1 && isForeign(origin))) return 'origin not allowed';
    return null;
  };
}
