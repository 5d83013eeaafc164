/**
 * What a request presents to show who sends it: a bearer token (contract "Authentication") or a session's cookie. A browser sends cookies with
 * requests of any page, so one counts only where the browser says that the console's own page asks (docs/access.md, "Browsers").
 */
import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Access, Holder } from '../access/access.ts';

export const cookieName = 'readback_session';
/** Browsers keep no cookie for longer, s; when a session ends is decided here. */
const cookieMaxAgeS = 400 * 24 * 3600;

/** Values of a header, as often as it was sent: Node joins or drops repeated ones. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i].length === name.length && rawHeaders[i].toLowerCase() === name) values.push(rawHeaders[i + 1]);
  }
  return values;
}

/** A token or a session's value. */
interface Presented {
  kind: Holder['kind'];
  secret: string;
}

/** What the request presents; null for nothing that counts. An Authorization header goes before any cookie; two are a contradiction, not a choice. */
export function presentedIn(request: IncomingMessage): Presented | null {
  const sent = headerValues(request, 'authorization');
  if (sent.length === 0) return sessionIn(request);
  const secret = sent.length > 1 ? undefined : /^bearer +(\S.*)$/i.exec(sent[0])?.[1];
  return secret === undefined ? null : { kind: 'token', secret };
}

/** Who sends the request; null for nobody known. */
export const presentedBy = (request: IncomingMessage, access: Access): Holder | null =>
  holderWith(presentedIn(request), access);

/** The session of the request's cookie, where it comes from the console's own page. */
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
  // Which of two is the service's own cannot be told.
  if (cookies.split(';').filter((each) => each.trimStart().startsWith(`${name}=`)).length > 1) return null;
  const secret = parseCookie(cookies)[name];
  return secret === undefined ? null : { kind: 'session', secret };
}

/** Headers of which browsers let no page say something else than is true. */
function isOwnPage(request: IncomingMessage): boolean {
  const [site] = headerValues(request, 'sec-fetch-site');
  const isSaid = site === undefined ? headerValues(request, 'x-readback')[0] === 'console' : site === 'same-origin';
  return isSaid && headerValues(request, 'origin').every((origin) => isOriginOf(origin, request));
}

/** Whether the origin is the host that the request addresses; how it came, by http or https, only a proxy knows. */
export function isOriginOf(origin: string, { headers: { host } }: IncomingMessage): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

/** Whether the page came by https: of requests that browsers send with their origin. */
export const cameByHttps = (request: IncomingMessage): boolean =>
  headerValues(request, 'origin')[0]?.startsWith('https://') ?? false;

/** Cookies know no ports, services do: each has its own. */
function nameFor({ headers: { host = '' } }: IncomingMessage): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined ? cookieName : `${cookieName}_${port}`;
}

/** Set-Cookie of a session; of none, which ends it in the browser. */
export function sessionCookie(request: IncomingMessage, secret: string | null): string {
  return stringifySetCookie(nameFor(request), secret ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure: cameByHttps(request),
    maxAge: secret === null ? 0 : cookieMaxAgeS,
  });
}
