/**
 * Takes the secrets out of the settings: tokens, keys, and users and passwords in addresses. What is left may be logged and
 * listed by routes; the secrets go only to who needs them.
 */
import { type AuthToken, defaultLibrary } from '../domain/access.ts';
import type { DeclaredSettings } from './schema.ts';

/** How to prove to a provider who is asking. */
export interface Credentials {
  api_key: string | null;
  /** `user:password` of the address, percent-decoded, for basic authentication. */
  userinfo: string | null;
}

export interface Secrets {
  /** The union of `auth_token` (called "default") and `auth_tokens`. Empty: the first start makes one. */
  tokens: AuthToken[];
  embedder: Credentials;
  reranker: Credentials;
  transcribe: Credentials;
  llm: Credentials;
  /** `user:password` of the collector's address. */
  otlp: Credentials;
  providers: Record<string, Credentials>;
  /** Of the database that libraries are kept in, and between hosts. */
  cluster: { database_url: string | null; secret: string | null };
}

interface Endpoint {
  base_url: string | null;
  api_key: string | null;
}

function splitAddress(address: string | null): { address: string | null; userinfo: string | null } {
  if (address === null) return { address, userinfo: null };
  const url = new URL(address);
  if (url.username === '' && url.password === '') return { address, userinfo: null };
  const userinfo = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return { address: url.href, userinfo };
}

function splitEndpoint<Group extends Endpoint>(
  group: Group,
): { plain: Omit<Group, 'api_key'>; credentials: Credentials } {
  const { api_key, ...rest } = group;
  const { address, userinfo } = splitAddress(group.base_url);
  return { plain: { ...rest, base_url: address }, credentials: { api_key, userinfo } };
}

/** Settings without secrets, and the secrets. */
export function separateSecrets(declared: DeclaredSettings) {
  const { auth_token, auth_tokens, ...rest } = declared;
  const { database_url, secret, ...cluster } = declared.cluster;
  const embedder = splitEndpoint(declared.embedder);
  const reranker = splitEndpoint(declared.reranker);
  const transcribe = splitEndpoint(declared.transcribe);
  const llm = splitEndpoint(declared.llm);
  const otlp = splitAddress(declared.observability.otlp_endpoint);
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
    otlp: { api_key: null, userinfo: otlp.userinfo },
    providers: Object.fromEntries(providers.map(([name, each]) => [name, each.credentials])),
    cluster: { database_url, secret },
  };
  return {
    ...rest,
    cluster,
    embedder: embedder.plain,
    reranker: reranker.plain,
    transcribe: transcribe.plain,
    llm: llm.plain,
    observability: { ...declared.observability, otlp_endpoint: otlp.address },
    providers: Object.fromEntries(providers.map(([name, each]) => [name, each.plain])),
    secrets,
  };
}

/** Every secret as a text that no log line may contain. */
export function secretTexts(secrets: Secrets): string[] {
  const { tokens, providers, cluster, ...endpoints } = secrets;
  const credentials = [...Object.values(endpoints), ...Object.values(providers)];
  return [
    ...tokens.map(({ token }) => token),
    ...credentials.flatMap(({ api_key, userinfo }) => [api_key, userinfo]),
    ...Object.values(cluster),
  ].filter((text) => text !== null);
}
