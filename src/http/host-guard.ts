/**
 * Who is being addressed and from which page: the guard against DNS rebinding and foreign web pages (design "Host / Origin").
 * While the service listens on loopback only, Host must name loopback or be allowed by the operator. Origin, where a browser
 * sends it, must be loopback, a browser extension, allowed, or the page of an allowed host itself, whatever the service listens on.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { isExtension } from './cors.ts';
import { headerValues, isOriginOf } from './credentials.ts';

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

/** An address as the Host header has it. */
const hostOf = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address);

/** A function from a request to what is wrong with where it comes from, or null where nothing is. */
export function hostGuard(settings: GuardSettings): (request: IncomingMessage) => string | null {
  const checksHost = isLoopback(settings.bind_host);
  // The address that was bound is a name of this service, too: another one of loopback, such as 127.0.0.2.
  const hosts = new Set([...settings.allowed_hosts, hostOf(settings.bind_host)].map((host) => host.toLowerCase()));
  const origins = new Set(settings.allowed_origins.map((origin) => origin.toLowerCase()));
  const hostAllowed = (host: string): boolean =>
    loopbackHost.test(host) || hosts.has(host.toLowerCase()) || hosts.has(host.toLowerCase().replace(/:\d{1,5}$/, ''));
  const originAllowed = (origin: string): boolean =>
    loopbackOrigin.test(origin) || isExtension(origin) || origins.has(origin.toLowerCase());
  // The console's page on a host that the operator named: a name that was made to point here is none of those.
  const isOwnPage = (origin: string, [host = '']: string[], request: IncomingMessage): boolean =>
    hostAllowed(host) && isOriginOf(origin, request);
  return (request) => {
    // A full URL as request target would carry a host of its own.
    if (checksHost && request.url?.startsWith('/') === false && request.url !== '*') return 'host not allowed';
    const host = headerValues(request, 'host');
    if (checksHost && (host.length !== 1 || !hostAllowed(host[0]))) return 'host not allowed';
    const origin = headerValues(request, 'origin');
    const isForeign = ([sent]: string[]) => !originAllowed(sent) && !isOwnPage(sent, host, request);
    if (origin.length > 1 || (origin.length === 1 && isForeign(origin))) return 'origin not allowed';
    return null;
  };
}
