/** Settings of the process: where it listens and keeps its data, who may call it, how it works and what it tells of itself. */
import { z } from 'zod';
import { authToken } from '../domain/access.ts';
import {
  aboveZero,
  aboveZeroOrNone,
  addressOrNone,
  choice,
  flag,
  integer,
  text,
  textList,
  textOrNone,
} from './declare.ts';

/** What can be sent in a header: visible ASCII, blanks inside only. Any other token could never match. */
const sendable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Settings outside any group. */
export const topLevel = {
  bind_host: text('127.0.0.1', 'Address to listen on.'),
  bind_port: integer(8000, 0, 'Port to listen on; 0 takes a free one.', 65535),
  data_dir: text('', 'Folder of everything that is kept.').meta({
    description: 'Folder of everything that is kept.',
    defaultText: '$XDG_DATA_HOME/readback or ~/.local/share/readback',
  }),
  cache_dir: text('', 'Folder of models that were fetched (docs/providers.md).').meta({
    description: 'Folder of models that were fetched (docs/providers.md).',
    defaultText: '$XDG_CACHE_HOME/readback or ~/.cache/readback',
  }),
  program_path: text('', 'Folders in which other programs are looked for, as in PATH.').meta({
    description:
      'Folders in which other programs (docs/video.md, docs/podcasts.md) are looked for, in the form of PATH.',
    defaultText: '$PATH',
  }),
  allowed_hosts: textList([], 'Values of the Host header accepted besides loopback names: `name` or `name:port`.'),
  allowed_origins: textList([], 'Values of the Origin header accepted besides loopback and browser extensions.'),
  stop_timeout_s: aboveZero(
    9,
    'Seconds after which a stop ends the process at once, whatever is left to do; supervisors of processes often kill after ten.',
  ),
  auth_token: z.string().regex(sendable).nullable().default(null).meta({
    description: 'One token with full access. With no token at all the first start makes one in the data folder.',
    secret: true,
    rule: 'visible ASCII characters',
  }),
  auth_tokens: z
    .array(authToken.extend({ token: z.string().regex(sendable) }))
    .default(() => [])
    .meta({
      description:
        'Named tokens: `[{"name": …, "token": …, "scopes": ["read", "write"]}]`; scopes default to both. Where there are several libraries, `"library"` names the one that a token is of (docs/libraries.md).',
      secret: true,
      rule: 'a JSON list of objects with name, token (visible ASCII characters), scopes (read, write) and library (a-z, 0-9, ., _, -)',
      defaultText: '[]',
    }),
};

export const backup = z.object({
  dir: textOrNone(
    'Folder for the backups that the service is asked for; by default beside `data_dir`, with `-backups` at the end of its name.',
  ),
});

export const libraries = z.object({
  dir: textOrNone('Folder of several libraries, one folder each, named by the tokens (docs/libraries.md).'),
});

export const storage = z.object({
  max_bytes: z.int().min(1).nullable().default(null).meta({
    description: 'Bytes of the data folder above which ingest is refused.',
  }),
  flush_timeout_s: aboveZero(20, 'Seconds after which writes that the disk has not taken yet are refused.'),
});

export const jobs = z.object({
  max_attempts: integer(5, 1, 'Attempts before a job is dead.'),
  lease_minutes: integer(15, 1, 'Minutes that a running job is owned without a sign of life.'),
  backoff_base_s: aboveZero(2, 'Seconds before the second attempt; doubled each time.'),
  handler_timeout_s: aboveZeroOrNone('Seconds that one attempt may take; derived from the lease where none.'),
  keep_days: aboveZero(
    90,
    'Days that done jobs are kept; those that a page, a watch, a backfill or a run of the topics has its state from stay with it.',
  ),
});

export const resilience = z.object({
  breaker_failure_threshold: integer(5, 1, 'Failures in a row that open the breaker of a provider.'),
  breaker_cooldown_s: aboveZero(30, 'Seconds before an open breaker lets one call through.'),
  retry_attempts: integer(3, 1, 'Tries of one call to a provider.'),
  retry_base_delay_s: aboveZero(0.25, 'Seconds before the second try; doubled each time.'),
  retry_max_delay_s: aboveZero(2, 'Seconds between two tries at most.'),
  embed_timeout_s: aboveZero(60, 'Seconds that one try of a call for vectors may take.'),
  rerank_timeout_s: aboveZero(15, 'Seconds that one try of a call to a reranker may take.'),
});

export const forget = z.object({
  compact_after_s: aboveZero(
    60,
    'Seconds without a new forget before the store is rewritten without what was forgotten.',
  ),
});

export const queryLog = z.object({ keep_days: aboveZero(90, 'Days that logged queries are kept.') });
export const metrics = z.object({ keep_days: aboveZero(90, 'Days that metric snapshots are kept.') });

export const events = z.object({
  heartbeat_s: aboveZero(15, 'Seconds between two keep-alive comments of the event stream.'),
  queue_size: integer(256, 1, 'Events that wait for one subscriber.'),
  max_subscribers: integer(16, 1, 'Subscribers at a time.'),
});

export const mcp = z.object({
  enable_mutating_tools: flag(false, 'List the tools that change something. Listing is not permission.'),
});

export const observability = z.object({
  json_logs: flag(
    true,
    'Log one JSON object a line; otherwise lines for people, which a terminal gets unless this is set.',
  ),
  log_level: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Least severity that is logged.'),
  metrics_snapshot_interval_s: aboveZero(15, 'Seconds between two stored snapshots of the metrics.'),
  traces: choice(['off', 'console', 'otlp'], 'off', 'Where traces go.'),
  otlp_endpoint: addressOrNone('Address of the collector for `otlp`.'),
});
