/** Adapters that talk to a fake provider each through its own breaker. */
import { openReranker, type Reranker } from '../../src/providers/api-reranker.ts';
import { type ChatClient, openChatClient } from '../../src/providers/chat-client.ts';
import { type Clock, systemClock } from '../../src/providers/clock.ts';
import { type Embedder, openEmbedder } from '../../src/providers/open-embedder.ts';
import { type ProviderCall, resilientCall } from '../../src/providers/resilient-call.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import type { FakeProvider } from './fake-provider-server.ts';

export const dim = 16;

export interface Calls {
  embedder: Embedder;
  reranker: Reranker;
  chat: ChatClient;
  /** The state of the breaker that all three go through. */
  breaker(): string;
}

export interface CallsOptions {
  /** Which API to speak. */
  provider?: string;
  model?: string;
  path?: string;
  timeoutMs?: number;
  clock?: Clock;
  attempts?: number;
  failureThreshold?: number;
  apiKey?: string | null;
  userinfo?: string | null;
  query?: string | null;
  maxInputTokens?: number;
}

export function callsTo(server: Pick<FakeProvider, 'url'>, options: CallsOptions = {}): Calls {
  const { provider = 'openai', model = 'a-model', path = '/v1', timeoutMs = 3_600_000, attempts = 1 } = options;
  const { maxInputTokens = 8192 } = options;
  const { apiKey = null, userinfo = null, query = null, failureThreshold = 5, clock = systemClock } = options;
  const { breakers } = runBreakers({ failureThreshold, cooldownMs: 60_000 }, () => clock.monotonic());
  const call: ProviderCall = resilientCall({
    provider,
    breaker: breakers.of(provider),
    retry: { attempts, baseDelayMs: 1, maxDelayMs: 2000 },
    timeoutMs,
    clock,
    random: Math.random,
  });
  const endpoint = { provider, baseUrl: server.url + path, credentials: { api_key: apiKey, userinfo, query } };
  const parts = { endpoint, model, call, wall: systemClock.wall };
  return {
    embedder: openEmbedder({ ...parts, dim, maxInputTokens }),
    reranker: openReranker(parts),
    chat: openChatClient(parts),
    breaker: () => breakers.states()[0]?.state ?? 'closed',
  };
}
