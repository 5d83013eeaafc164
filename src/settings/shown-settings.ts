/** The settings as a route may show them: every one with its value, secrets replaced wherever they stand. */
import { fixedVariables } from './environment.ts';
import type { Settings } from './read-settings.ts';
import { secretTexts } from './secrets.ts';

/** What stands for a secret that is set; one that is not set is null. */
const redacted = '[redacted]';

export interface ShownSettings {
  settings: Record<string, unknown>;
  /** By the setting's name, `jobs.max_attempts`. */
  mutability: Record<string, 'boot_only'>;
}

const secretName = /^(?:api_key|auth_tokens?|token|password|secret)$/;

/** Replaces the secrets in every text of a value, users and passwords in addresses, and whatever has a secret's name. */
function redactedIn(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    const open = secrets.reduce((text, secret) => text.replaceAll(secret, redacted), value);
    return open.replace(/(?<=\/\/)[^/@\s]+(?=@)/g, redacted);
  }
  if (Array.isArray(value)) return value.map((each) => redactedIn(each, secrets));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    secretName.test(key) && inner !== null ? redacted : redactedIn(inner, secrets),
  ]);
  return Object.fromEntries(entries);
}

/** To the tokens of a library, which see those of no other. */
export function shownSettings({ secrets, ...settings }: Settings, library: string): ShownSettings {
  const tokens = secrets.tokens.filter((token) => token.library === library);
  const known = secretTexts(secrets).filter((secret) => secret !== '');
  const shown = redactedIn(settings, known) as Record<string, Record<string, unknown>>;
  const keyOf = (credentials: { api_key: string | null }) => (credentials.api_key === null ? null : redacted);
  for (const group of ['embedder', 'reranker', 'transcribe', 'llm'] as const) {
    shown[group] = { ...shown[group], api_key: keyOf(secrets[group]) };
  }
  const hidden = (secret: string | null) => (secret === null ? null : redacted);
  const { database_url, secret } = secrets.cluster;
  shown.cluster = { ...shown.cluster, database_url: hidden(database_url), secret: hidden(secret) };
  const providers = Object.entries(shown.providers).map(([name, group]) => [
    name,
    { ...(group as object), api_key: keyOf(secrets.providers[name]) },
  ]);
  const single = tokens.some(({ name }) => name === 'default');
  const mutability = Object.fromEntries(
    [
      ...fixedVariables.map(({ path }) => path.join('.')),
      ...Object.keys(settings.providers).flatMap((name) => [`providers.${name}.base_url`, `providers.${name}.api_key`]),
    ].map((name) => [name, 'boot_only' as const]),
  );
  return {
    settings: {
      ...shown,
      providers: Object.fromEntries(providers),
      auth_token: single ? redacted : null,
      auth_tokens: tokens.map(({ name, scopes }) => ({ name, scopes, token: redacted })),
    },
    mutability,
  };
}
