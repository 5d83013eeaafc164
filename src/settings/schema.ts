/** Every setting by group (contract "Settings that bound behaviour"), for the environment's reader and the docs. */
import { Cron } from 'croner';
import { z } from 'zod';
import { isHostRule } from '../compute/web/address-policy.ts';
import { defaultTrackingParams, presetKeepParams } from '../compute/web/canonical-url.ts';
import { isPlace } from '../compute/web/domain-match.ts';
import { authToken } from '../domain/access.ts';
import { builtInModel, graphFrom } from '../domain/model.ts';
import { maxIntervalHours } from '../domain/watch.ts';

interface SettingMeta {
  description: string;
  /** Hidden in error messages and settings routes. */
  secret?: boolean;
  /** Describes the accepted values, if the schema's bounds do not. */
  rule?: string;
  /** Documents a default that is computed from the environment. */
  defaultText?: string;
}

const integer = (fallback: number, min: number, description: string, max?: number) =>
  (max === undefined ? z.int().min(min) : z.int().min(min).max(max)).default(fallback).meta({ description });

const aboveZero = (fallback: number, description: string) =>
  z.number().positive().default(fallback).meta({ description });

const share = (fallback: number, description: string) =>
  z.number().min(0).max(1).default(fallback).meta({ description });

const aboveZeroOrNone = (description: string) => z.number().positive().nullable().default(null).meta({ description });

const flag = (fallback: boolean, description: string) => z.boolean().default(fallback).meta({ description });

const text = (fallback: string, description: string) => z.string().min(1).default(fallback).meta({ description });

const textOrNone = (description: string) => z.string().min(1).nullable().default(null).meta({ description });

const secretOrNone = (description: string) =>
  z.string().min(1).nullable().default(null).meta({ description, secret: true });

const textList = (fallback: readonly string[], description: string) =>
  z
    .array(z.string().min(1))
    .default([...fallback])
    .meta({ description });

const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  fallback: Values[number],
  description: string,
) => {
  const schema: z.ZodType<Values[number]> = z.enum(values);
  return schema.default(() => fallback).meta({ description });
};

function isHttpUrl(value: string): boolean {
  try {
    const { protocol, username, password } = new URL(value);
    decodeURIComponent(username + password);
    return protocol === 'http:' || protocol === 'https:';
  } catch {
    // Constructor and decoder report a bad address only by throwing.
    return false;
  }
}

/** An http or https address, or none. Its user, password and parameters are stored as secrets. */
const addressOrNone = (description: string) =>
  z.string().refine(isHttpUrl).nullable().default(null).meta({ description, rule: 'an http or https address' });

/** Five fields: minute, hour, day, month, weekday. */
const cronPattern = /^[\w*/,-]+( +[\w*/,-]+){4}$/;

function isCron(expression: string): boolean {
  if (!cronPattern.test(expression)) return false;
  try {
    return new Cron(expression, { paused: true }).nextRun(new Date(0)) !== null;
  } catch {
    return false; // the setting's rule describes the error
  }
}

/** Valid in a header: visible ASCII with inner spaces. Any other token could never match. */
const sendable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** `providers.<name>`: shared by several parts of the service. */
export const provider = z.object({
  base_url: addressOrNone('Address of the provider called `<name>`.'),
  api_key: secretOrNone('Its key.'),
});

export const settingsSchema = z.object({
  bind_host: text('127.0.0.1', 'Address to listen on.'),
  bind_port: integer(8000, 0, 'Port to listen on; 0 selects a free one.', 65535),
  data_dir: text('', 'Data folder.').meta({
    description: 'Data folder (docs/storage.md).',
    defaultText: '$XDG_DATA_HOME/readback or ~/.local/share/readback',
  }),
  program_path: text('', 'Folders in which other programs are looked for, as in PATH.').meta({
    description: 'Folders to search for other programs (docs/video.md), in the form of PATH.',
    defaultText: '$PATH',
  }),
  allowed_hosts: textList([], 'Accepted Host headers, in addition to loopback names: `name` or `name:port`.'),
  allowed_origins: textList([], 'Accepted Origin headers, in addition to loopback and browser extensions.'),
  stop_timeout_s: aboveZero(9, 'Max seconds of an orderly stop. Supervisors often kill a process after ten.'),
  auth_token: z.string().regex(sendable).nullable().default(null).meta({
    description: 'A token with full access. Without any token the first start generates one in the data folder.',
    secret: true,
    rule: 'visible ASCII characters',
  }),
  auth_tokens: z
    .array(authToken.extend({ token: z.string().regex(sendable) }))
    .default(() => [])
    .meta({
      description:
        'Named tokens: `[{"name": …, "token": …, "scopes": ["read", "write"]}]`; scopes default to both. With several libraries, `"library"` names the token’s library (docs/access.md).',
      secret: true,
      rule: 'a JSON list of objects with name, token (visible ASCII characters), scopes (read, write) and library (a-z, 0-9, ., _, -)',
      defaultText: '[]',
    }),
  backup: z.object({
    dir: textOrNone('Folder for backups by the service; by default `data_dir` with `-backups` appended.'),
    keep: integer(7, 1, 'Max backups that the service keeps of a library; it deletes the oldest.'),
  }),
  canonicalize: z.object({
    tracking_params: textList(
      defaultTrackingParams,
      'Query parameters dropped from every URL; a trailing `*` matches any ending.',
    ),
    known_addresses: flag(
      true,
      'Also drop the parameters of a built-in list of trackers, and give AMP and mobile pages, archived copies and the several addresses of a video the address of the page (docs/addresses.md).',
    ),
    keep_params: z
      .record(z.string().min(1), z.array(z.string()))
      .default(() => ({}))
      .meta({
        description:
          'Domain, or domain and path prefix → the only query parameters that its URLs keep. Merged with the preset; an entry of a domain replaces all of the preset under that domain.',
        rule: 'a JSON object of lists of texts',
        defaultText: `preset for ${Object.keys(presetKeepParams).sort().join(', ')}`,
      }),
  }),
  chunking: z.object({
    target_tokens: integer(448, 1, 'Target size of a chunk.'),
    overlap_tokens: integer(64, 0, 'Tokens repeated from the chunk before.'),
    hard_max_tokens: integer(
      512,
      1,
      'Max size of a chunk, at least `chunking.target_tokens`; also the min `max_input_tokens` of a registered model.',
    ),
  }),
  cluster: z.object({
    min_pages: integer(50, 1, 'Min pages for topics.'),
    min_new_pages: integer(20, 1, 'Min new pages since the last run for an idle run.'),
    idle_default_minutes: integer(15, 1, 'Minutes without new pages before an idle run.'),
    leiden_resolution: aboveZero(
      1,
      'Resolution of the Leiden algorithm, relative to the one chosen for the pages; higher values give smaller topics.',
    ),
    cron: z.string().refine(isCron).nullable().default(null).meta({
      description: 'Additional schedule for topics: minute, hour, day, month, weekday, in local time.',
      rule: 'five cron fields that match a future time',
    }),
    keep_days: aboveZero(90, 'Days to keep finished runs.'),
    // For hosts that share libraries in PostgreSQL.
    database_url: z
      .string()
      .refine((value) => URL.canParse(value) && /^postgres(?:ql)?:$/.test(new URL(value).protocol))
      .nullable()
      .default(null)
      .meta({
        description:
          'Address of PostgreSQL, to keep all libraries there and serve them from several hosts (docs/cluster.md).',
        secret: true,
        rule: 'a postgresql address',
      }),
    address: addressOrNone('Address of this host for the other hosts of the cluster.'),
    secret: z.string().min(16).nullable().default(null).meta({
      description: 'Shared secret of the hosts of a cluster.',
      secret: true,
      rule: 'at least 16 characters',
    }),
    lease_s: z.number().min(2).max(600).default(10).meta({
      description: 'Seconds after which another host may take over a library of a host that does not respond.',
    }),
    idle_close_minutes: aboveZero(30, 'Minutes after the last request until a host closes an idle library.'),
    max_open_libraries: integer(
      500,
      1,
      'Max open libraries of a host; beyond it the host closes the least recently used one.',
    ),
    max_memory_mb: z.int().min(1).nullable().default(null).meta({
      description:
        'Resident memory of a host, MB; beyond it the host closes the least recently used library for each one that it opens.',
    }),
  }),
  embedder: z.object({
    provider: text(
      'local',
      'Provider of the model that the first start activates: `local` (built in), `none`, or the name of a provider (docs/providers.md).',
    ),
    model: text(builtInModel.model_name, 'Name of the model at that provider.'),
    base_url: addressOrNone(
      'Address of the provider; by default `providers.<name>.base_url`, for Ollama its usual address.',
    ),
    api_key: secretOrNone('Its key; by default `providers.<name>.api_key`.'),
    dim: integer(1024, 1, `Dimensions of the vectors, for providers other than \`local\` (${builtInModel.dim}).`),
    max_input_tokens: integer(32000, 1, 'Max tokens of a text.'),
    prices: z
      .record(z.string().min(1), z.number().min(0))
      .default(() => ({}))
      .meta({
        description: 'Name of a model → US dollars per million tokens, for estimates of backfills.',
        rule: 'a JSON object of numbers that are not negative',
        defaultText: '{}',
      }),
  }),
  encoder: z.object({
    dir: textOrNone(
      'Folder of the files of the built-in model (`encoder.json` and the files that it names); by default that of the program.',
    ),
    pace: z.number().min(0.05).max(1).default(1).meta({
      description: 'Max share of one core for making vectors in the background.',
      rule: 'a number, at least 0.05, at most 1',
    }),
  }),
  entity: z.object({
    enabled: flag(
      true,
      'Find names in pages. When turned on again, the service also reads the pages that it left out.',
    ),
    cosine_threshold: share(
      0.85,
      'Min cosine of two names, by their letters, to suggest them as one. Only exact variants are merged automatically.',
    ),
    edit_distance_threshold: share(
      0.15,
      'Max edit distance of two names, as a share of the longer, to suggest them as one.',
    ),
  }),
  events: z.object({
    heartbeat_s: aboveZero(15, 'Seconds between two keep-alive comments of the event stream.'),
    queue_size: integer(256, 1, 'Max events waiting for one subscriber.'),
    max_subscribers: integer(16, 1, 'Max concurrent subscribers.'),
  }),
  fetch: z.object({
    timeout_s: aboveZero(
      10,
      'Max seconds to fetch one page, redirects included. Waiting for the turn of its host does not count.',
    ),
    max_bytes: integer(10_000_000, 1, 'Max decoded bytes of a page.'),
    video_timeout_s: aboveZero(60, 'Max seconds of one run of yt-dlp.'),
    audio_max_bytes: integer(250_000_000, 1, 'Max bytes of an audio file, which is stored in a temporary file.'),
    audio_timeout_s: aboveZero(300, 'Max seconds to fetch an audio file.'),
    video_captions: flag(true, 'Read the captions of videos. If off, videos have no text.'),
    video_allow_auto_captions: flag(true, 'Accept automatic captions.'),
    video_transcribe_fallback: flag(
      true,
      'Transcribe videos without captions, if a recognizer is set up (docs/video.md).',
    ),
    audio_transcripts: flag(true, 'Transcribe audio files.'),
    podcast_transcripts: flag(true, 'Read episodes of podcasts. If off, podcasts cannot be watched.'),
    video_caption_langs: textList(
      ['en', 'en-US', 'en-GB'],
      'Languages of captions, best first; `en` includes `en-AU`.',
    ),
    video_speech_model: text('small', 'Size of the local speech model, for `{model}` in `transcribe.command`.'),
    video_hosts: textList(
      ['youtube.com', 'youtu.be', 'vimeo.com'],
      'Domains (with subdomains) whose pages are videos (docs/video.md).',
    ),
    allow_private_hosts: z
      .array(z.string().refine(isHostRule))
      .default(() => [])
      .meta({
        description:
          'Private, loopback or link-local hosts that may be fetched: host names (without subdomains), addresses or CIDR ranges, compared with the host of the URL and with its resolved address.',
        rule: 'a JSON list of host names, addresses and CIDR ranges',
      }),
    per_host_gap_ms: integer(
      500,
      0,
      'Milliseconds between two fetches from one host; 0 for hosts in `fetch.allow_private_hosts`.',
    ),
  }),
  forget: z.object({
    compact_after_s: aboveZero(
      60,
      'Seconds after the last forget until the store is rewritten without the forgotten pages.',
    ),
  }),
  indexing: z.object({
    page_vector_pooling: choice(['mean'], 'mean', 'How the vector of a page is computed from its chunks.'),
    vector_index: choice(
      ['auto', 'exact', 'hnsw'],
      'auto',
      `How near vectors are found: \`exact\` compares all, \`hnsw\` uses a graph, \`auto\` a graph from ${graphFrom.toLocaleString('en-US')} passages on. Without the package \`hnswlib-node\` always \`exact\`.`,
    ),
  }),
  jobs: z.object({
    max_attempts: integer(5, 1, 'Max attempts of a job.'),
    lease_minutes: integer(15, 1, 'Minutes until a running job without a heartbeat loses its lease.'),
    backoff_base_s: aboveZero(2, 'Seconds before the second attempt; doubled each time.'),
    handler_timeout_s: aboveZeroOrNone('Max seconds of one attempt; derived from the lease by default.'),
    keep_days: aboveZero(
      90,
      'Days to keep done jobs, except those that a page, watch, backfill or topics run refers to.',
    ),
  }),
  libraries: z.object({
    dir: textOrNone('Folder of several libraries, one subfolder each (docs/access.md).'),
  }),
  llm: z.object({
    base_url: addressOrNone('Address of an OpenAI-compatible chat endpoint, for names of topics and for answers.'),
    api_key: secretOrNone('Its key.'),
    model: textOrNone('Name of the model; by default the server’s own.'),
    timeout_s: aboveZero(30, 'Max seconds of one call.'),
    exclude: z.array(z.string().refine(isPlace)).default([]).meta({
      description:
        'Sites and addresses whose pages are never sent, such as `example.com` or `example.com/private`; `www.example.com` does not exclude `example.com`.',
      rule: 'a JSON list of sites or addresses, such as example.com/private, without *, ?, # and @',
    }),
    max_input_tokens: integer(4000, 100, 'Max tokens of the passages that are sent with one question.'),
  }),
  mcp: z.object({
    enable_mutating_tools: flag(false, 'List tools that change data. The token still needs the scope `write`.'),
  }),
  metrics: z.object({ keep_days: aboveZero(90, 'Days to keep metric snapshots.') }),
  observability: z.object({
    json_logs: flag(
      true,
      'Log one JSON object per line, otherwise readable lines. A terminal gets readable lines unless this is set.',
    ),
    log_level: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Min severity to log.'),
    metrics_snapshot_interval_s: aboveZero(15, 'Seconds between two stored snapshots of the metrics.'),
    traces: choice(['off', 'console', 'otlp'], 'off', 'Destination of traces.'),
    otlp_endpoint: addressOrNone('Address of the collector for `otlp`.'),
  }),
  pdf: z.object({
    strip_repeated_lines: flag(true, 'Drop headers and footers: lines that repeat on most pages.'),
    repeated_line_ratio: z.number().positive().max(1).default(0.6).meta({
      description: 'Min share of pages with such a line.',
    }),
    repeated_line_scan: integer(2, 1, 'Lines examined at the top and at the bottom of each page.'),
    min_pages_for_stripping: integer(3, 1, 'Min pages of a PDF for dropping lines.'),
  }),
  providers: z.record(z.string(), provider),
  query_log: z.object({ keep_days: aboveZero(90, 'Days to keep logged queries.') }),
  reranker: z.object({
    kind: choice(
      ['none', 'api', 'local'],
      'local',
      'Order of results: `local` is score fusion, `api` a provider, `none` reciprocal ranks.',
    ),
    provider: textOrNone(
      'Provider for kind `api`: `cohere`, `voyage`, `jina`, `tei` or any other name (docs/providers.md).',
    ),
    base_url: addressOrNone('Its address; by default `providers.<name>.base_url`.'),
    api_key: secretOrNone('Its key; by default `providers.<name>.api_key`.'),
    model: textOrNone('Name of the model for kind `api`; by default the server’s own.'),
    max_candidates: integer(100, 1, 'Max candidates that a reranker of kind `api` scores.', 1000),
  }),
  resilience: z.object({
    breaker_failure_threshold: integer(5, 1, 'Consecutive failures that open the circuit breaker of a provider.'),
    breaker_cooldown_s: aboveZero(30, 'Seconds before an open breaker allows one call.'),
    retry_attempts: integer(3, 1, 'Max tries of one call to a provider.'),
    retry_base_delay_s: aboveZero(0.25, 'Seconds before the second try; doubled each time.'),
    retry_max_delay_s: aboveZero(2, 'Max seconds between two tries.'),
    embed_timeout_s: aboveZero(60, 'Max seconds of one try of an embedding call.'),
    rerank_timeout_s: aboveZero(15, 'Max seconds of one try of a rerank call.'),
  }),
  search: z.object({
    recency_half_life_days: aboveZeroOrNone(
      'Days after which the score of an unvisited page halves, unless a search sets it.',
    ),
    embed_deadline_s: aboveZero(
      2,
      'Max seconds that a search waits for the vector of its query; then it uses words alone.',
    ),
    rerank_deadline_s: aboveZero(
      5,
      'Max seconds that a search waits for a reranker of kind `api`; candidates without a score keep their order.',
    ),
  }),
  storage: z.object({
    max_bytes: z.int().min(1).nullable().default(null).meta({
      description:
        'Max bytes of the store; above it the service refuses new pages. Also the max of store and backups together: a new backup deletes the oldest ones until both fit.',
    }),
    flush_timeout_s: aboveZero(20, 'Seconds to wait for the disk before writes are refused.'),
  }),
  tls: z.object({
    cert_file: textOrNone(
      'File of a certificate with its chain, PEM; with it the service speaks HTTPS (docs/access.md).',
    ),
    key_file: textOrNone('File of its private key, PEM. The service reads both files again when they change.'),
  }),
  transcribe: z.object({
    command: textOrNone(
      'Command that transcribes an audio file, such as `whisper-cli -m /models/ggml-{model}.bin -f {audio} -of {output} -oj`; run without a shell (docs/video.md).',
    ),
    base_url: addressOrNone('Address of an OpenAI-compatible transcription endpoint, used if no command is set.'),
    api_key: secretOrNone('Its key.'),
    model: text('whisper-1', 'Name of the model at the endpoint.'),
    timeout_s: aboveZero(300, 'Max seconds of the endpoint for five minutes of audio, in one try.'),
  }),
  watch: z.object({
    default_interval_hours: integer(24, 1, 'Hours between two polls, unless the watch sets it.', maxIntervalHours),
    poll_tick_enabled: flag(true, 'Poll due watches every minute.'),
    max_due_per_tick: integer(20, 1, 'Max watches polled in one minute.'),
    max_items_per_poll: integer(200, 1, 'Max items of one poll.'),
    video_max_entries: integer(100, 1, 'Max videos that one poll lists of a playlist or channel.'),
  }),
});

export type DeclaredSettings = z.infer<typeof settingsSchema>;

export function metaOf(schema: z.ZodType): SettingMeta {
  const meta = schema.meta();
  const { description, secret, rule, defaultText } = meta ?? {};
  if (description === undefined) throw new TypeError('a setting without a description');
  return {
    description,
    ...(secret === true ? { secret } : {}),
    ...(typeof rule === 'string' ? { rule } : {}),
    ...(typeof defaultText === 'string' ? { defaultText } : {}),
  };
}

/** The type without defaults and null. */
export function coreOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const inner = schema.unwrap();
    if (inner instanceof z.ZodType) return coreOf(inner);
  }
  return schema;
}

function numberRule(kind: string, json: z.core.JSONSchema.BaseSchema): string {
  const bounds: string[] = [];
  if (json.exclusiveMinimum !== undefined) bounds.push(`above ${json.exclusiveMinimum}`);
  if (json.minimum !== undefined && json.minimum !== Number.MIN_SAFE_INTEGER) bounds.push(`at least ${json.minimum}`);
  if (json.maximum !== undefined && json.maximum !== Number.MAX_SAFE_INTEGER) bounds.push(`at most ${json.maximum}`);
  return [kind, ...bounds].join(', ');
}

/** Describes a schema, such as "a whole number, at least 1". */
export function ruleOf(schema: z.ZodType): string {
  const { rule } = metaOf(schema);
  if (rule !== undefined) return rule;
  const core = coreOf(schema);
  const json = z.toJSONSchema(core, { unrepresentable: 'any', io: 'input' });
  switch (json.type) {
    case 'integer':
      return numberRule('a whole number', json);
    case 'number':
      return numberRule('a number', json);
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a JSON list of texts';
    default:
      if (json.enum !== undefined) return `one of ${json.enum.join(', ')}`;
      return 'a text';
  }
}
