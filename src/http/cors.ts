/**
 * Which pages of other origins may read answers (CORS): extensions that were paired, and any extension while it pairs. No web page may, and
 * nobody with cookies. Whether a request is let in at all is decided elsewhere; this tells browsers who may see what became of it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../access/access.ts';

const extensionOrigin = /^(?:chrome|moz|safari-web|ms-browser|edge)-extension:\/\/[^/\s]+$/i;
export const isExtension = (origin: string): boolean => extensionOrigin.test(origin);

/** A browser asks again after it, s. */
const preflightMaxAgeS = 600;

/** Say who may read the answer. True where that is all that was asked: a preflight, which has been answered. */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, access: Access): boolean {
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
