/** Providers with a well-known address. Paid ones need an explicit address, so that no text or key is sent by default. */
export const ollamaProvider = 'ollama';
/** The default of `reranker.provider`; most servers speak its wire format. */
export const unnamedProvider = 'api';
const ollama = 'http://127.0.0.1:11434/v1';

const paidProviders = ['openai', 'voyage', 'cohere', 'jina'];

/** Their address may be set after a model is registered. */
export const isNamedProvider = (provider: string): boolean => [ollamaProvider, ...paidProviders].includes(provider);

/** On this machine; null: it must be set. */
export const usualAddressOf = (provider: string): string | null => (provider === ollamaProvider ? ollama : null);
