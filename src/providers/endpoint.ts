/**
 * A provider's address and credentials: the settings of a part (`embedder`, `reranker`), completed by `providers.<name>` and the
 * provider's usual address.
 */
import { usualAddressOf } from '../domain/usual-address.ts';

/** `userinfo` is sent as basic authentication if there is no key: both use the same header. `query` is appended to every path. */
export interface ProviderCredentials {
  api_key: string | null;
  userinfo: string | null;
  query: string | null;
}

export interface Endpoint {
  /** Used in errors, logs and breakers. */
  provider: string;
  /** http or https, with the version's path: `https://api.example.com/v1`. */
  baseUrl: string;
  credentials: ProviderCredentials;
}

export interface EndpointSource {
  base_url: string | null;
  credentials: ProviderCredentials;
}

/**
 * Null without an address. An address keeps its user and parameters; a key is shared separately.
 * Source: docs/settings.md, `embedder.base_url`, `embedder.api_key`, `providers.<name>`.
 */
export function endpointOf(provider: string, own: EndpointSource, shared: EndpointSource | undefined): Endpoint | null {
  const api_key = own.credentials.api_key ?? shared?.credentials.api_key ?? null;
  const located = own.base_url === null ? shared : own;
  const baseUrl = located?.base_url ?? usualAddressOf(provider);
  if (baseUrl === null) return null;
  const { userinfo = null, query = null } = located?.credentials ?? {};
  return { provider, baseUrl, credentials: { api_key, userinfo, query } };
}
