/** Settings of what becomes of a page's text: canonical URL, chunks, vectors, entities, clusters, and how it is searched. */
import { Cron } from 'croner';
import { z } from 'zod';
import { defaultTrackingParams, presetKeepParams } from '../compute/web/canonical-url.ts';
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
  keep_params: z
    .record(z.string().min(1), z.array(z.string()))
    .default(() => ({}))
    .meta({
      description:
        'Domain → the only query parameters that its URLs keep. Merged over the preset; an entry replaces the preset one.',
      rule: 'a JSON object of lists of texts',
      defaultText: `preset for ${Object.keys(presetKeepParams).sort().join(', ')}`,
    }),
});

export const chunking = z.object({
  target_tokens: integer(448, 1, 'Tokens that a chunk aims at.'),
  overlap_tokens: integer(64, 0, 'Tokens that a chunk repeats of the one before.'),
  hard_max_tokens: integer(
    512,
    1,
    'Tokens that no chunk exceeds; also the least `max_input_tokens` of a registered model. Not below `chunking.target_tokens`.',
  ),
});

export const embedder = z.object({
  provider: text(
    'local',
    'Who computes vectors of the model made active at the first start: `local` (built in), `none`, or the name of a provider (docs/providers.md).',
  ),
  model: text('wink', 'Name of the model at that provider; `wink` is the built-in one.'),
  base_url: addressOrNone(
    'Address of the provider; `providers.<name>.base_url` where none, else the usual one of Ollama.',
  ),
  api_key: secretOrNone('Key for it; `providers.<name>.api_key` where none.'),
  dim: integer(1024, 1, 'Length of a vector. The built-in model takes 100, or 200 and more.'),
  max_input_tokens: integer(32000, 1, 'Tokens that the model reads at most.'),
  prices: z
    .record(z.string().min(1), z.number().min(0))
    .default(() => ({}))
    .meta({
      description: 'Name of a model → US dollars for a million tokens, for the estimate of what a backfill costs.',
      rule: 'a JSON object of numbers that are not negative',
      defaultText: '{}',
    }),
});

export const reranker = z.object({
  kind: choice(['none', 'api', 'local'], 'local', 'Who gives results their final order.'),
  provider: textOrNone(
    'Provider for kind `api`, which decides the wire format: `cohere`, `voyage`, `jina`, `tei`, or any other name; `transformers` runs the model in the service.',
  ),
  base_url: addressOrNone('Address for kind `api`; `providers.<name>.base_url` where none.'),
  api_key: secretOrNone('Key for kind `api`; `providers.<name>.api_key` where none.'),
  model: textOrNone(
    'Name of the model for kind `api`; the server’s own where none. With `transformers` a folder, or an id of the hub.',
  ),
  dtype: choice(
    ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'],
    'q8',
    'Precision of the weights with `transformers`, which names their file: `q8` is `onnx/model_quantized.onnx`, `fp32` `onnx/model.onnx`.',
  ),
  max_candidates: integer(100, 1, 'First candidates that a reranker of kind `api` scores.', 1000),
});

export const indexing = z.object({
  page_vector_pooling: choice(['mean'], 'mean', 'How the vectors of its chunks become the vector of a page.'),
});

export const search = z.object({
  recency_half_life_days: aboveZeroOrNone(
    'Days after which an unvisited page counts half, where a search does not say.',
  ),
  embed_deadline_s: aboveZero(
    2,
    'Seconds that a search waits for the vector of its query from a provider, all tries included; then it goes by words alone.',
  ),
  rerank_deadline_s: aboveZero(
    5,
    'Seconds that a search waits for a reranker of kind `api`; what is not scored by then keeps its place in the order before it.',
  ),
});

export const entity = z.object({
  enabled: flag(
    true,
    'Read pages for entities. Without, no page is queued for it and none that waits is read; turned on again, what is missing is queued.',
  ),
  cosine_threshold: share(0.85, 'Cosine from which two names may be the same entity.'),
  edit_distance_threshold: share(
    0.15,
    'Edit distance, as a share of the length, up to which two names may be the same.',
  ),
});

/** Five fields: minute, hour, day, month, weekday. */
const cronPattern = /^[\w*/,-]+( +[\w*/,-]+){4}$/;

/** Whether a cron expression can be read and names a time that ever comes. */
function isCron(expression: string): boolean {
  if (!cronPattern.test(expression)) return false;
  try {
    return new Cron(expression, { paused: true }).nextRun(new Date(0)) !== null;
  } catch {
    return false; // what is wrong with it is said by the setting's rule
  }
}

export const cluster = z.object({
  min_pages: integer(50, 1, 'Pages below which nothing is clustered.'),
  min_new_pages: integer(20, 1, 'New pages since the last run that make an idle run worthwhile.'),
  idle_default_minutes: integer(15, 1, 'Minutes without ingest before an idle run.'),
  leiden_resolution: aboveZero(
    1,
    'Resolution of the Leiden algorithm, as a multiple of the one that suits the pages: higher makes smaller clusters.',
  ),
  cron: z.string().refine(isCron).nullable().default(null).meta({
    description: 'When to cluster besides: minute, hour, day, month, weekday, in local time.',
    rule: 'five cron fields that name a time which comes',
  }),
  keep_days: aboveZero(90, 'Days that finished runs are kept.'),
});

/** The same group: hosts that share their libraries by way of PostgreSQL. */
export const hosts = {
  database_url: z
    .string()
    .refine((value) => URL.canParse(value) && /^postgres(?:ql)?:$/.test(new URL(value).protocol))
    .nullable()
    .default(null)
    .meta({
      description:
        'Address of PostgreSQL, where all libraries are then kept and any host serves them (docs/cluster.md).',
      secret: true,
      rule: 'a postgresql address',
    }),
  address: addressOrNone('Address at which the other hosts of the cluster reach this one.'),
  secret: z.string().min(16).nullable().default(null).meta({
    description: 'What hosts of a cluster show each other: the same for all of them.',
    secret: true,
    rule: 'at least 16 characters',
  }),
  lease_s: z.number().min(2).max(600).default(10).meta({
    description: 'Seconds after which another host may take a library over from one that is not heard of.',
  }),
  idle_close_minutes: aboveZero(
    30,
    'Minutes without a request after which a host closes a library that has nothing to do.',
  ),
  max_open_libraries: integer(
    500,
    1,
    'Libraries that a host has open; beyond it the one that was not used for longest is closed.',
  ),
  max_memory_mb: z.int().min(1).nullable().default(null).meta({
    description:
      'Resident memory of a host, MB; beyond it each library that is opened has the one closed that was not used for longest.',
  }),
};

export const llm = z.object({
  base_url: addressOrNone('Address of a compatible chat endpoint, for labels of clusters.'),
  api_key: secretOrNone('Key for it.'),
  model: textOrNone('Name of the model; the server’s own where none.'),
  timeout_s: aboveZero(30, 'Seconds that one call may take.'),
});

/** `providers.<name>`: what several parts of the service may share. */
export const provider = z.object({
  base_url: addressOrNone('Address of the provider called `<name>`.'),
  api_key: secretOrNone('Key for it.'),
});
