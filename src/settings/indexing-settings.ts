/** Settings of indexing and search: canonical URLs, chunks, vectors, entities, clusters. */
import { Cron } from 'croner';
import { z } from 'zod';
import { defaultTrackingParams, presetKeepParams } from '../compute/web/canonical-url.ts';
import { isPlace } from '../compute/web/domain-match.ts';
import { builtInModel, graphFrom } from '../domain/model.ts';
import {
  aboveZero,
  aboveZeroOrNone,
  addressOrNone,
  choice,
  flag,
  integer,
  secretOrNone,
  share,
  text,
  textList,
  textOrNone,
} from './declare.ts';

export const canonicalize = z.object({
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
        'Domain, or domain and beginning of a path → the only query parameters that its URLs keep. Merged with the preset; an entry of a domain replaces all of the preset under that domain.',
      rule: 'a JSON object of lists of texts',
      defaultText: `preset for ${Object.keys(presetKeepParams).sort().join(', ')}`,
    }),
});

export const chunking = z.object({
  target_tokens: integer(448, 1, 'Target size of a chunk.'),
  overlap_tokens: integer(64, 0, 'Tokens repeated from the chunk before.'),
  hard_max_tokens: integer(
    512,
    1,
    'Max size of a chunk, at least `chunking.target_tokens`; also the min `max_input_tokens` of a registered model.',
  ),
});

export const encoder = z.object({
  dir: textOrNone(
    'Folder of the files of the built-in model (`encoder.json` and the files that it names); by default that of the program.',
  ),
  pace: z.number().min(0.05).max(1).default(1).meta({
    description: 'Max share of one core for making vectors in the background.',
    rule: 'a number, at least 0.05, at most 1',
  }),
});

export const embedder = z.object({
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
});

export const reranker = z.object({
  kind: choice(
    ['none', 'api', 'local'],
    'local',
    'What orders results: `local` is score fusion, `api` a provider, `none` reciprocal ranks.',
  ),
  provider: textOrNone(
    'Provider for kind `api`: `cohere`, `voyage`, `jina`, `tei` or any other name (docs/providers.md).',
  ),
  base_url: addressOrNone('Its address; by default `providers.<name>.base_url`.'),
  api_key: secretOrNone('Its key; by default `providers.<name>.api_key`.'),
  model: textOrNone('Name of the model for kind `api`; by default the server’s own.'),
  max_candidates: integer(100, 1, 'Max candidates that a reranker of kind `api` scores.', 1000),
});

export const indexing = z.object({
  page_vector_pooling: choice(['mean'], 'mean', 'How the vector of a page is computed from its chunks.'),
  vector_index: choice(
    ['auto', 'exact', 'hnsw'],
    'auto',
    `How near vectors are found: \`exact\` compares all, \`hnsw\` uses a graph, \`auto\` a graph from ${graphFrom.toLocaleString('en-US')} passages on. Without the package \`hnswlib-node\` always \`exact\`.`,
  ),
});

export const search = z.object({
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
});

export const entity = z.object({
  enabled: flag(true, 'Find names in pages. When turned on again, the service also reads the pages that it left out.'),
  cosine_threshold: share(
    0.85,
    'Min cosine of two names, by their letters, to suggest them as one. Only exact variants are merged automatically.',
  ),
  edit_distance_threshold: share(
    0.15,
    'Max edit distance of two names, as a share of the longer, to suggest them as one.',
  ),
});

/** Five fields: minute, hour, day, month, weekday. */
const cronPattern = /^[\w*/,-]+( +[\w*/,-]+){4}$/;

/** Whether a cron expression is valid and ever occurs. */
function isCron(expression: string): boolean {
  if (!cronPattern.test(expression)) return false;
  try {
    return new Cron(expression, { paused: true }).nextRun(new Date(0)) !== null;
  } catch {
    return false; // what is wrong with it is said by the setting's rule
  }
}

export const cluster = z.object({
  min_pages: integer(50, 1, 'Min pages for topics.'),
  min_new_pages: integer(20, 1, 'Min new pages since the last run for an idle run.'),
  idle_default_minutes: integer(15, 1, 'Minutes without new pages before an idle run.'),
  leiden_resolution: aboveZero(
    1,
    'Resolution of the Leiden algorithm, relative to the one chosen for the pages; higher values give smaller topics.',
  ),
  cron: z.string().refine(isCron).nullable().default(null).meta({
    description: 'Additional schedule for topics: minute, hour, day, month, weekday, in local time.',
    rule: 'five cron fields that name a time which comes',
  }),
  keep_days: aboveZero(90, 'Days to keep finished runs.'),
});

/** The same group: hosts that share libraries in PostgreSQL. */
export const hosts = {
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
};

export const llm = z.object({
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
});

/** `providers.<name>`: shared by several parts of the service. */
export const provider = z.object({
  base_url: addressOrNone('Address of the provider called `<name>`.'),
  api_key: secretOrNone('Its key.'),
});
