/** Where providers are that everybody finds at one address, so that only what differs has to be set. */

export const ollamaProvider = 'ollama';
const ollama = 'http://127.0.0.1:11434/v1';

/** They take money and texts, so they are asked only where a key of theirs is set. */
const withKey: ReadonlyMap<string, string> = new Map([
  ['openai', 'https://api.openai.com/v1'],
  ['voyage', 'https://api.voyageai.com/v1'],
  ['cohere', 'https://api.cohere.com/v2'],
  ['jina', 'https://api.jina.ai/v1'],
]);

export const isPaid = (provider: string): boolean => withKey.has(provider);

/** Providers that are known by name: their address may be set after a model of theirs is registered. */
export const isNamedProvider = (provider: string): boolean => provider === ollamaProvider || isPaid(provider);

/** Of those with a usual address, whether texts are reranked there, too. */
export const isUsualReranker = (provider: string): boolean => isPaid(provider) && provider !== 'openai';

/** Null: the settings have to say. */
export function usualAddressOf(provider: string, { hasKey }: { hasKey: boolean }): string | null {
  if (provider === ollamaProvider) return ollama;
  return hasKey ? (withKey.get(provider) ?? null) : null;
}
