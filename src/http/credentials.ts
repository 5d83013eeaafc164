/** A request's bearer token, or its session cookie, which counts only if the console's own page sent the request. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Access, Holder } from '../access/access.ts';

export const cookieName = 'readback_session';
/** The longest time browsers accept, s. The service decides when a session ends. */
const cookieMaxAgeS = 400 * 24 * 3600;

/** All values of a header: Node joins or drops repeated ones. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i].length === name.length && rawHeaders[i].toLowerCase() === name) values.push(rawHeaders[i + 1]);
  }
  return values;
}

interface Presented {
  kind: Holder['kind'];
  secret: string;
}

/** Null without credentials. Authorization takes precedence over cookies. Two tokens are an error. */
export function presentedIn(request: IncomingMessage): Presented | null {
  const sent = headerValues(request, 'authorization');
  if (sent.length === 0) return sessionIn(request);
  const secret = sent.length > 1 ? undefined : /^bearer +(\S.*)$/i.exec(sent[0])?.[1];
  return secret === undefined ? null : { kind: 'token', secret };
}

export const presentedBy = (request: IncomingMessage, access: Access): Holder | null =>
  holderWith(presentedIn(request), access);

export const sessionOf = (request: IncomingMessage, access: Access): Holder | null =>
  holderWith(sessionIn(request), access);

function holderWith(presented: Presented | null, access: Access): Holder | null {
  if (presented === null) return null;
  const { kind, secret } = presented;
  return kind === 'token' ? access.holderOfToken(secret) : access.holderOfSession(secret);
}

function sessionIn(request: IncomingMessage): Presented | null {
  const [cookies, ...others] = headerValues(request, 'cookie');
  if (cookies === undefined || others.length > 0 || !isOwnPage(request)) return null;
  const name = nameFor(request);
  // With two cookies of one name, the service's own cannot be identified.
  if (cookies.split(';').filter((each) => each.trimStart().startsWith(`${name}=`)).length > 1) return null;
  const secret = parseCookie(cookies)[name];
  return secret === undefined ? null : { kind: 'session', secret };
}

/** Whether the console's page sent the request. Other pages cannot forge these headers. */
function isOwnPage(request: IncomingMessage): boolean {
  const [site] = headerValues(request, 'sec-fetch-site');
  const isSaid = site === undefined ? headerValues(request, 'x-readback')[0] === 'console' : site === 'same-origin';
  return isSaid && headerValues(request, 'origin').every((origin) => isOriginOf(origin, request));
}

/** Whether the origin is the addressed host. Behind a proxy, only the proxy knows the scheme. */
export function isOriginOf(origin: string, { headers: { host } }: IncomingMessage): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

export const cameByHttps = (request: IncomingMessage): boolean =>
  request.socket instanceof TLSSocket || headerValues(request, 'origin')[0]?.startsWith('https://') === true;

/** Cookies ignore ports, so the name contains the port. */
function nameFor({ headers: { host = '' } }: IncomingMessage): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined ? cookieName : `${cookieName}_${port}`;
}

/** Set-Cookie of a session; without a secret it deletes the cookie. */
export function sessionCookie(request: IncomingMessage, secret: string | null): string {
  return stringifySetCookie(nameFor(request), secret ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure: cameByHttps(request),
    maxAge: secret === null ? 0 : cookieMaxAgeS,
  });
}
