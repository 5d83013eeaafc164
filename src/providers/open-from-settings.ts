import { unnamedProvider } from '../domain/usual-address.ts';
import { openReranker } from './api-reranker.ts';
import { type ChatClient, openChatClient } from './chat-client.ts';
import {
  type CallSurroundings,
  callsThrough,
  endpointOf,
  type ProviderSettings,
  sharedSource,
} from './provider-settings.ts';
import { endpointRecognizer, type Recognizer } from './transcription.ts';

/**
 * The reranker of `reranker.*`, for kind `api`, and its name: model and provider, if set. Breaker: `<provider>-rerank`.
 * Errors: TypeError without an address; the validation of settings prevents that.
 */
export function rerankerOf(settings: ProviderSettings, surroundings: CallSurroundings) {
  const { reranker, secrets, resilience } = settings;
  const { model } = reranker;
  const provider = reranker.provider ?? unnamedProvider;
  const breaker = surroundings.breakers.of(`${provider}-rerank`);
  const name = [provider, model].filter((part) => part !== null).join('/');
  const own = { base_url: reranker.base_url, credentials: secrets.reranker };
  const endpoint = endpointOf(provider, own, sharedSource(provider, settings));
  if (endpoint === null) throw new TypeError('reranker.kind api without an address');
  const call = callsThrough(provider, breaker, resilience.rerank_timeout_s, settings, surroundings);
  return { reranker: openReranker({ endpoint, model, call, wall: surroundings.clock.wall }), name };
}

/** The client of `llm.*`, or null without an address. Breaker: `llm`. */
export function chatClientOf(settings: ProviderSettings, surroundings: CallSurroundings): ChatClient | null {
  const { llm, secrets } = settings;
  if (llm.base_url === null) return null;
  const endpoint = { provider: 'llm', baseUrl: llm.base_url, credentials: secrets.llm };
  const call = callsThrough('llm', surroundings.breakers.of('llm'), llm.timeout_s, settings, surroundings);
  return openChatClient({ endpoint, model: llm.model, call, wall: surroundings.clock.wall });
}

/** The endpoint of `transcribe.*`, or null without an address. Breaker: `transcribe`. */
export function endpointRecognizerOf(
  settings: Pick<ProviderSettings, 'transcribe' | 'resilience'> & {
    secrets: Pick<ProviderSettings['secrets'], 'transcribe'>;
  },
  { breakers, clock, random }: CallSurroundings,
): Recognizer | null {
  const { transcribe, secrets } = settings;
  if (transcribe.base_url === null) return null;
  const endpoint = { provider: 'transcribe', baseUrl: transcribe.base_url, credentials: secrets.transcribe };
  const call = callsThrough('transcribe', breakers.of('transcribe'), transcribe.timeout_s, settings, { clock, random });
  return endpointRecognizer({ endpoint, model: transcribe.model, call, wall: clock.wall });
}
