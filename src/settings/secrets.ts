/** Separates secrets from settings: tokens, keys, and users, passwords and parameters in addresses. The rest may be logged and listed. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuthToken, defaultLibrary } from '../domain/access.ts';
import type { DeclaredSettings } from './schema.ts';

export interface Credentials {
  api_key: string | null;
  /** `user:password` of the address, percent-decoded, for basic authentication. */
  userinfo: string | null;
  /** Parameters of the address: some providers expect keys there. */
  query: string | null;
}

export interface Secrets {
  /** `auth_token` (named "default") and `auth_tokens`. Empty: the first start generates one. */
  tokens: AuthToken[];
  embedder: Credentials;
  reranker: Credentials;
  transcribe: Credentials;
  llm: Credentials;
  otlp: Credentials;
  providers: Record<string, Credentials>;
  /** Address of the libraries' database, and the secret between hosts. */
  cluster: { database_url: string | null; secret: string | null };
}

interface Endpoint {
  base_url: string | null;
  api_key: string | null;
}

/** The public and the secret part of an address, without its fragment. */
function splitAddress(given: string | null): { address: string | null } & Omit<Credentials, 'api_key'> {
  if (given === null) return { address: null, userinfo: null, query: null };
  const url = new URL(given);
  const { username, password, search } = url;
  const userinfo =
    username === '' && password === '' ? null : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const query = search === '' ? null : search.slice(1);
  if (userinfo === null && query === null && url.hash === '') return { address: given, userinfo, query };
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return { address: url.href, userinfo, query };
}

function splitEndpoint<Group extends Endpoint>(
  group: Group,
): { plain: Omit<Group, 'api_key'>; credentials: Credentials } {
  const { api_key, ...rest } = group;
  const { address, ...credentials } = splitAddress(group.base_url);
  return { plain: { ...rest, base_url: address }, credentials: { api_key, ...credentials } };
}

export function separateSecrets(declared: DeclaredSettings) {
  const { auth_token, auth_tokens, ...rest } = declared;
  const { database_url, secret, address, ...cluster } = declared.cluster;
  const embedder = splitEndpoint(declared.embedder);
  const reranker = splitEndpoint(declared.reranker);
  const transcribe = splitEndpoint(declared.transcribe);
  const llm = splitEndpoint(declared.llm);
  const { address: otlp_endpoint, ...otlp } = splitAddress(declared.observability.otlp_endpoint);
  const providers = Object.entries(declared.providers).map(([name, group]) => [name, splitEndpoint(group)] as const);
  const single: AuthToken[] =
    auth_token === null
      ? []
      : [{ name: 'default', library: defaultLibrary, token: auth_token, scopes: ['read', 'write'] }];
  const secrets: Secrets = {
    tokens: [...single, ...auth_tokens],
    embedder: embedder.credentials,
    reranker: reranker.credentials,
    transcribe: transcribe.credentials,
    llm: llm.credentials,
    otlp: { api_key: null, ...otlp },
    providers: Object.fromEntries(providers.map(([name, each]) => [name, each.credentials])),
    cluster: { database_url, secret },
  };
  return {
    ...rest,
    // The part that other hosts see: only the address.
    cluster: { ...cluster, address: splitAddress(address).address },
    embedder: embedder.plain,
    reranker: reranker.plain,
    transcribe: transcribe.plain,
    llm: llm.plain,
    observability: { ...declared.observability, otlp_endpoint },
    providers: Object.fromEntries(providers.map(([name, each]) => [name, each.plain])),
    secrets,
  };
}

/** Shorter parameter values are version names and the like, which are also parts of other texts. */
const minKeyLength = 8;

/** Parameters as sent, and values in them that may be keys, raw and decoded. */
function textsOf(query: string | null): string[] {
  const sent = (query ?? '').split('&').map((each) => each.slice(each.indexOf('=') + 1));
  const meant = new URLSearchParams(query ?? '').values();
  return [query ?? '', ...sent, ...meant].filter(({ length }) => length >= minKeyLength);
}

/** Every secret that no log line may contain. Longest first, because one may contain another. */
export function secretTexts(secrets: Secrets): string[] {
  const { tokens, providers, cluster, ...endpoints } = secrets;
  const credentials = [...Object.values(endpoints), ...Object.values(providers)];
  return [
    ...tokens.map(({ token }) => token),
    ...credentials.flatMap(({ api_key, userinfo, query }) => [api_key, userinfo, ...textsOf(query)]),
    ...Object.values(cluster),
  ]
    .filter((text) => text !== null)
    .sort((a, b) => b.length - a.length);
}

export interface AccessTokensOptions {
  configured: readonly AuthToken[];
  dataDir: string;
  newToken: () => string;
  monotonic: () => number;
}

/** Min time between checks of the file, ms: unauthorized requests must not keep the disk busy. */
const lookEveryMs = 100;

/** `generatedAt`: path of the generated token, which `readback token new` may replace. Null for configured tokens. */
export function accessTokens({ configured, dataDir, newToken, monotonic }: AccessTokensOptions): {
  tokens: () => readonly AuthToken[];
  generatedAt: string | null;
} {
  if (configured.length > 0) return { tokens: () => configured, generatedAt: null };
  const path = join(dataDir, 'token');
  const listOf = (token: string): AuthToken[] => [
    { name: 'default', library: defaultLibrary, token, scopes: ['read', 'write'] },
  ];
  let held = listOf(readOrMake(path, newToken));
  let lookedAt = monotonic();
  const tokens = () => {
    if (monotonic() - lookedAt < lookEveryMs) return held;
    lookedAt = monotonic();
    const token = kept(path);
    if (token !== null && token !== held[0].token) held = listOf(token);
    return held;
  };
  return { tokens, generatedAt: path };
}

function kept(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    // The current token stays valid.
    return null;
  }
}

function readOrMake(path: string, newToken: () => string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  const kept = isThere ? readFileSync(path, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const token = newToken();
  writeFileSync(path, `${token}\n`, { mode: 0o600 });
  return token;
}
