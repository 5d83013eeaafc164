/** Providers with a well-known address. Paid ones need an explicit address: nothing is sent to them by default. */
export const ollamaProvider = 'ollama';
/** The default of `reranker.provider`. Most servers support its wire format. */
export const unnamedProvider = 'api';
const ollama = 'http://127.0.0.1:11434/v1';

const paidProviders = ['openai', 'voyage', 'cohere', 'jina'];

/** Whether the address may be set after a model of this provider is registered. */
export const isNamedProvider = (provider: string): boolean => [ollamaProvider, ...paidProviders].includes(provider);

/** Address on this machine; null if it must be set. */
export const usualAddressOf = (provider: string): string | null => (provider === ollamaProvider ? ollama : null);
