/** Settings of providers, and their calls. */
import type { BreakerState } from '../domain/admin.ts';
import { isNamedProvider, usualAddressOf } from '../domain/usual-address.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Credentials } from '../settings/secrets.ts';
import type { Clock } from './clock.ts';
import {
  type CircuitBreaker,
  type ProviderCall,
  ProviderError,
  type RetryPolicy,
  resilientCall,
} from './resilient-call.ts';

export type ProviderSettings = Pick<
  Settings,
  'embedder' | 'reranker' | 'llm' | 'transcribe' | 'providers' | 'secrets' | 'resilience'
>;

export interface Endpoint {
  /** Used in errors, logs and breakers. */
  provider: string;
  /** http or https, with the version's path: `https://api.example.com/v1`. */
  baseUrl: string;
  /** `userinfo` is sent as basic authentication if there is no key: both use the same header. `query` is appended to every path. */
  credentials: Credentials;
}

export interface EndpointOptions {
  endpoint: Endpoint;
  /** Null: the server's default. */
  model: string | null;
  call: ProviderCall;
  wall: () => number;
}

interface EndpointSource {
  base_url: string | null;
  credentials: Credentials;
}

export interface ProviderBreaker extends CircuitBreaker {
  /** An open breaker stays open until a call after its cooldown. */
  state(): BreakerState;
  /** How long calls will be refused, ms; 0: a call would be sent. Makes no call. */
  waitMs(): number;
}

export interface CallSurroundings {
  breakers: { of(name: string): ProviderBreaker };
  clock: Clock;
  random: () => number;
}

/** An address keeps its own user and parameters. Source: docs/settings.md, `embedder.base_url`, `providers.<name>`. */
export function endpointOf(provider: string, own: EndpointSource, shared: EndpointSource | undefined): Endpoint | null {
  const api_key = own.credentials.api_key ?? shared?.credentials.api_key ?? null;
  const located = own.base_url === null ? shared : own;
  const baseUrl = located?.base_url ?? usualAddressOf(provider);
  if (baseUrl === null) return null;
  const { userinfo = null, query = null } = located?.credentials ?? {};
  return { provider, baseUrl, credentials: { api_key, userinfo, query } };
}

const unset = { base_url: null, credentials: { api_key: null, userinfo: null, query: null } };

/** `embedder.*` for its own provider, completed by `providers.<name>`. Errors: ProviderError `unconfigured`. */
export function embeddingEndpoint(provider: string, settings: ProviderSettings): Endpoint {
  const endpoint = findEmbeddingEndpoint(provider, settings);
  if (endpoint !== null) return endpoint;
  const variable = `SERVICE_PROVIDERS__${provider.toUpperCase()}__BASE_URL`;
  throw new ProviderError(provider, 'unconfigured', `it has no address: set ${variable}`);
}

/** The same, but null without an address. */
export function findEmbeddingEndpoint(provider: string, settings: ProviderSettings): Endpoint | null {
  const { embedder, secrets } = settings;
  const own = provider === embedder.provider ? { base_url: embedder.base_url, credentials: secrets.embedder } : unset;
  return endpointOf(provider, own, sharedSource(provider, settings));
}

/** Whether models of this provider may be registered: known by name, or configured. */
export function isKnownProvider(provider: string, settings: ProviderSettings): boolean {
  const isConfigured = provider === settings.embedder.provider || sharedSource(provider, settings) !== undefined;
  return isConfigured || isNamedProvider(provider);
}

export function sharedSource(name: string, { providers, secrets }: ProviderSettings) {
  if (!Object.hasOwn(providers, name)) return undefined;
  return { base_url: providers[name].base_url, credentials: secrets.providers[name] };
}

export function callsThrough(
  provider: string,
  breaker: CircuitBreaker,
  timeoutS: number,
  { resilience }: Pick<ProviderSettings, 'resilience'>,
  { clock, random }: Pick<CallSurroundings, 'clock' | 'random'>,
): ProviderCall {
  const retry: RetryPolicy = {
    attempts: resilience.retry_attempts,
    baseDelayMs: resilience.retry_base_delay_s * 1000,
    maxDelayMs: resilience.retry_max_delay_s * 1000,
  };
  return resilientCall({ provider, breaker, retry, timeoutMs: timeoutS * 1000, clock, random });
}
