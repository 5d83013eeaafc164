/** Contract section: Settings. Each setting: its default, the name of its variable, what it accepts and what it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, SettingsError } from '../../src/settings/read-settings.ts';
import { shownSettings } from '../../src/settings/shown-settings.ts';

interface Constraint {
  accepted: string[];
  refused: string[];
  /** Set beside an accepted value, where another setting has to agree. */
  beside?: Record<string, string>;
}

const atLeast = (min: number, max?: number): Constraint => ({
  accepted: [min, max ?? min + 1].map(String),
  refused: [String(min - 1), '1.5', 'many', 'NaN', ...(max === undefined ? [] : [String(max + 1)])],
});
const aboveZero: Constraint = { accepted: ['0.001', '7', '2.5e1'], refused: ['0', '-1', 'NaN', 'Infinity', 'soon'] };
const share: Constraint = { accepted: ['0', '0.5', '1'], refused: ['-0.1', '1.1', 'half'] };
const flag: Constraint = { accepted: ['true', 'false'], refused: ['perhaps', '2'] };
const oneOf = (...accepted: string[]): Constraint => ({ accepted, refused: ['other', '1'] });
const list: Constraint = { accepted: ['[]', '["de"]'], refused: ['de', '{"a":1}', '[1]'] };
const anyText: Constraint = { accepted: ['text'], refused: [] };
const outside = { SERVICE_EMBEDDER__PROVIDER: 'remote', SERVICE_PROVIDERS__REMOTE__BASE_URL: 'http://127.0.0.1:9/v1' };

/** The rows of the contract's table, and the settings that its text names. */
const settings: readonly [name: string, byDefault: unknown, constraint: Constraint][] = [
  ['chunking.target_tokens', 448, { ...atLeast(1), accepted: ['1', '512'] }],
  ['chunking.overlap_tokens', 64, atLeast(0)],
  ['chunking.hard_max_tokens', 512, { ...atLeast(1), beside: { SERVICE_CHUNKING__TARGET_TOKENS: '1' } }],
  ['embedder.dim', 1024, { ...atLeast(1), beside: outside }],
  ['embedder.max_input_tokens', 32_000, atLeast(1)],
  ['fetch.timeout_s', 10, aboveZero],
  ['fetch.max_bytes', 10_000_000, atLeast(1)],
  ['fetch.video_timeout_s', 60, aboveZero],
  ['fetch.audio_max_bytes', 250_000_000, atLeast(1)],
  ['fetch.audio_timeout_s', 300, aboveZero],
  ['fetch.video_captions', true, flag],
  ['fetch.video_allow_auto_captions', true, flag],
  ['fetch.video_transcribe_fallback', true, flag],
  ['fetch.audio_transcripts', true, flag],
  ['fetch.podcast_transcripts', true, flag],
  ['fetch.video_caption_langs', ['en', 'en-US', 'en-GB'], list],
  ['fetch.video_speech_model', 'small', anyText],
  ['watch.default_interval_hours', 24, atLeast(1, 8760)],
  ['watch.poll_tick_enabled', true, flag],
  ['watch.max_due_per_tick', 20, atLeast(1)],
  ['watch.max_items_per_poll', 200, atLeast(1)],
  ['watch.video_max_entries', 100, atLeast(1)],
  ['jobs.max_attempts', 5, atLeast(1)],
  ['jobs.lease_minutes', 15, atLeast(1)],
  ['jobs.backoff_base_s', 2, aboveZero],
  ['jobs.handler_timeout_s', null, aboveZero],
  ['resilience.breaker_failure_threshold', 5, atLeast(1)],
  ['resilience.breaker_cooldown_s', 30, aboveZero],
  ['resilience.retry_attempts', 3, atLeast(1)],
  ['resilience.retry_base_delay_s', 0.25, aboveZero],
  ['resilience.retry_max_delay_s', 2, aboveZero],
  ['resilience.embed_timeout_s', 60, aboveZero],
  ['resilience.rerank_timeout_s', 15, aboveZero],
  ['events.heartbeat_s', 15, aboveZero],
  ['events.queue_size', 256, atLeast(1)],
  ['events.max_subscribers', 16, atLeast(1)],
  ['entity.cosine_threshold', 0.85, share],
  ['entity.edit_distance_threshold', 0.15, share],
  ['search.recency_half_life_days', null, aboveZero],
  ['cluster.min_pages', 50, atLeast(1)],
  ['cluster.min_new_pages', 20, atLeast(1)],
  ['cluster.idle_default_minutes', 15, atLeast(1)],
  ['cluster.leiden_resolution', 1, aboveZero],
  ['cluster.cron', null, { accepted: ['0 3 * * *'], refused: ['never', '* * *'] }],
  ['pdf.strip_repeated_lines', true, flag],
  ['pdf.repeated_line_ratio', 0.6, { accepted: ['0.01', '1'], refused: ['0', '1.01', '-0.5'] }],
  ['pdf.repeated_line_scan', 2, atLeast(1)],
  ['pdf.min_pages_for_stripping', 3, atLeast(1)],
  ['llm.timeout_s', 30, aboveZero],
  ['llm.base_url', null, { accepted: ['http://127.0.0.1:9/v1'], refused: ['nowhere', 'ftp://a.example/'] }],
  ['llm.api_key', null, anyText],
  ['llm.model', null, anyText],
  ['observability.json_logs', true, flag],
  ['observability.metrics_snapshot_interval_s', 15, aboveZero],
  ['observability.traces', 'off', oneOf('off', 'console', 'otlp')],
  ['observability.otlp_endpoint', null, { accepted: ['http://127.0.0.1:9/v1/traces'], refused: ['nowhere'] }],
  [
    'reranker.kind',
    'local',
    { ...oneOf('none', 'api', 'local'), beside: { SERVICE_RERANKER__BASE_URL: 'http://127.0.0.1:9/' } },
  ],
  ['indexing.page_vector_pooling', 'mean', oneOf('mean')],
  ['canonicalize.tracking_params', ['utm_*', 'fbclid', 'gclid', 'ref', 'si'], list],
  ['mcp.enable_mutating_tools', false, flag],
  ['bind_host', '127.0.0.1', { accepted: ['0.0.0.0', '::1'], refused: [] }],
  ['bind_port', 8000, { accepted: ['0', '65535'], refused: ['-1', '65536', 'http'] }],
];

/** The contract: SERVICE_<GROUP>__<FIELD>. */
const variableOf = (name: string): string => `SERVICE_${name.replace('.', '__').toUpperCase()}`;
const home = { SERVICE_DATA_DIR: '/nowhere' };

/** A value in nested objects, by its dotted name. */
function at(tree: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], tree);
}

/** A setting as it was read; secrets are kept apart. */
function read(env: Record<string, string>, name: string): unknown {
  const { secrets, ...settings } = readSettings({ ...home, ...env });
  return name === 'llm.api_key' ? secrets.llm.api_key : at(settings, name);
}

/** What `/v1/admin/config` answers (contract-admin.test.ts). */
const shown = shownSettings(readSettings(home), 'default');

for (const [name, byDefault, { accepted, refused, beside = {} }] of settings) {
  const variable = variableOf(name);
  test(`${name} is ${JSON.stringify(byDefault)} by default, may only be set at the start, by ${variable}`, () => {
    assert.deepEqual(at(shown.settings, name), byDefault);
    assert.deepEqual(read({}, name), byDefault);
    assert.equal(shown.mutability[name], 'boot_only');
    for (const text of accepted) {
      const value = read({ ...beside, [variable]: text }, name);
      const [plain, ...others] = [value].flat();
      assert.ok(
        others.length === 0 &&
          (plain === undefined ? text === '[]' : text.includes(String(plain)) || Number(text) === plain),
      );
    }
  });
  if (refused.length === 0) continue;
  test(`${name} refuses ${refused.join(', ')}, naming variable and rule`, () => {
    for (const text of refused) {
      assert.throws(
        () => readSettings({ ...home, ...beside, [variable]: text }),
        (error) => error instanceof SettingsError && error.problems.some((each) => each.startsWith(`${variable}=`)),
        text,
      );
    }
  });
}
