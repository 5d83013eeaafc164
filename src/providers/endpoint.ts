/**
 * Where a provider is and how to prove to it who is asking: what a part of the service (`embedder`, `reranker`) sets for itself,
 * completed by what is set for the provider's name (`providers.<name>`), and by its usual address.
 */
import { usualAddressOf } from '../domain/usual-address.ts';

/** `userinfo` is sent as basic authentication where there is no key; both would need the same header. */
export interface ProviderCredentials {
  api_key: string | null;
  userinfo: string | null;
}

export interface Endpoint {
  /** The provider's name in errors, logs and breakers. */
  provider: string;
  /** http or https, the version's path included: `https://api.example.com/v1`. */
  baseUrl: string;
  credentials: ProviderCredentials;
}

export interface EndpointSource {
  base_url: string | null;
  credentials: ProviderCredentials;
}

/**
 * The endpoint of a provider, or null where no address is set and it has no usual one. A user in the shared address goes with that address; a key is
 * shared by itself.
 * Source: docs/settings.md, `embedder.base_url`, `embedder.api_key`, `providers.<name>`.
 */
export function endpointOf(provider: string, own: EndpointSource, shared: EndpointSource | undefined): Endpoint | null {
  const api_key = own.credentials.api_key ?? shared?.credentials.api_key ?? null;
  const located = own.base_url === null ? shared : own;
  const baseUrl = located?.base_url ?? usualAddressOf(provider);
  if (baseUrl === null) return null;
  return { provider, baseUrl, credentials: { api_key, userinfo: located?.credentials.userinfo ?? null } };
}
