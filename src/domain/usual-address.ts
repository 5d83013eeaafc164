/** Where a provider is that everybody finds at one address, and who takes money: no text and no key goes to an address that nobody set. */

export const ollamaProvider = 'ollama';
/** How a provider is called where `reranker.provider` does not say; its wire format is the one most servers speak. */
export const unnamedProvider = 'api';
const ollama = 'http://127.0.0.1:11434/v1';

/** By provider that takes money, the address that its makers give, to be set. */
const makersAddresses: ReadonlyMap<string, string> = new Map([
  ['openai', 'https://api.openai.com/v1'],
  ['voyage', 'https://api.voyageai.com/v1'],
  ['cohere', 'https://api.cohere.com/v2'],
  ['jina', 'https://api.jina.ai/v1'],
]);

export const isPaid = (provider: string): boolean => makersAddresses.has(provider);
export const makersAddressOf = (provider: string): string | null => makersAddresses.get(provider) ?? null;

/** Providers that are known by name: their address may be set after a model of theirs is registered. */
export const isNamedProvider = (provider: string): boolean => provider === ollamaProvider || isPaid(provider);

/** On the machine of the service; null: the settings have to say. */
export const usualAddressOf = (provider: string): string | null => (provider === ollamaProvider ? ollama : null);
