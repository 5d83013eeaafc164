import { fixedVariables, type Settings } from './read-settings.ts';
import { secretTexts } from './secrets.ts';

/** Replaces a secret that is set. Others are null. */
const redacted = '[redacted]';

export interface ShownSettings {
  settings: Record<string, unknown>;
  mutability: Record<string, 'boot_only'>;
}

const secretName = /^(?:api_key|auth_tokens?|token|password|secret)$/;

/** Redacts secrets in every text, secret parts of addresses, and fields with a secret's name. */
function redactedIn(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    const open = secrets.reduce((text, secret) => text.replaceAll(secret, redacted), value);
    return open.replace(/(?<=\/\/)[^/@\s]+(?=@)|(?<=:\/\/[^\s?]*\?)[^\s"'#]+/g, redacted);
  }
  if (Array.isArray(value)) return value.map((each) => redactedIn(each, secrets));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    secretName.test(key) && inner !== null ? redacted : redactedIn(inner, secrets),
  ]);
  return Object.fromEntries(entries);
}

/** Settings for the tokens of one library, without those of others. */
export function shownSettings({ secrets, ...settings }: Settings, library: string): ShownSettings {
  const tokens = secrets.tokens.filter((token) => token.library === library);
  const known = secretTexts(secrets).filter((secret) => secret !== '');
  const shown = redactedIn(settings, known) as Record<string, Record<string, unknown>>;
  const hidden = (secret: string | null) => (secret === null ? null : redacted);
  for (const group of ['embedder', 'reranker', 'transcribe', 'llm'] as const)
    shown[group] = { ...shown[group], api_key: hidden(secrets[group].api_key) };
  const { database_url, secret } = secrets.cluster;
  shown.cluster = { ...shown.cluster, database_url: hidden(database_url), secret: hidden(secret) };
  const providers = Object.entries(shown.providers).map(([name, group]) => [
    name,
    { ...(group as object), api_key: hidden(secrets.providers[name].api_key) },
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
