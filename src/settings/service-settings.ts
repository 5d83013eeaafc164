/** Settings of the process: address, data folder, access, operation and monitoring. */
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

/** Valid in a header: visible ASCII with inner spaces. Any other token could never match. */
const sendable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export const topLevel = {
  bind_host: text('127.0.0.1', 'Address to listen on.'),
  bind_port: integer(8000, 0, 'Port to listen on; 0 takes a free one.', 65535),
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
};

export const tls = z.object({
  cert_file: textOrNone(
    'File of a certificate with its chain, PEM; with it the service speaks HTTPS (docs/access.md).',
  ),
  key_file: textOrNone('File of its private key, PEM. The service reads both files again when they change.'),
});

export const backup = z.object({
  dir: textOrNone('Folder for backups by the service; by default `data_dir` with `-backups` appended.'),
  keep: integer(7, 1, 'Max backups that the service keeps of a library; it deletes the oldest.'),
});

export const libraries = z.object({
  dir: textOrNone('Folder of several libraries, one subfolder each (docs/access.md).'),
});

export const storage = z.object({
  max_bytes: z.int().min(1).nullable().default(null).meta({
    description:
      'Max bytes of the store; above it the service refuses new pages. Also the max of store and backups together: a new backup deletes the oldest ones until both fit.',
  }),
  flush_timeout_s: aboveZero(20, 'Seconds to wait for the disk before writes are refused.'),
});

export const jobs = z.object({
  max_attempts: integer(5, 1, 'Max attempts of a job.'),
  lease_minutes: integer(15, 1, 'Minutes until a running job without a heartbeat loses its lease.'),
  backoff_base_s: aboveZero(2, 'Seconds before the second attempt; doubled each time.'),
  handler_timeout_s: aboveZeroOrNone('Max seconds of one attempt; derived from the lease by default.'),
  keep_days: aboveZero(
    90,
    'Days to keep done jobs, except those that a page, watch, backfill or topics run refers to.',
  ),
});

export const resilience = z.object({
  breaker_failure_threshold: integer(5, 1, 'Consecutive failures that open the circuit breaker of a provider.'),
  breaker_cooldown_s: aboveZero(30, 'Seconds before an open breaker allows one call.'),
  retry_attempts: integer(3, 1, 'Max tries of one call to a provider.'),
  retry_base_delay_s: aboveZero(0.25, 'Seconds before the second try; doubled each time.'),
  retry_max_delay_s: aboveZero(2, 'Max seconds between two tries.'),
  embed_timeout_s: aboveZero(60, 'Max seconds of one try of an embedding call.'),
  rerank_timeout_s: aboveZero(15, 'Max seconds of one try of a rerank call.'),
});

export const forget = z.object({
  compact_after_s: aboveZero(
    60,
    'Seconds after the last forget until the store is rewritten without the forgotten pages.',
  ),
});

export const queryLog = z.object({ keep_days: aboveZero(90, 'Days to keep logged queries.') });
export const metrics = z.object({ keep_days: aboveZero(90, 'Days to keep metric snapshots.') });

export const events = z.object({
  heartbeat_s: aboveZero(15, 'Seconds between two keep-alive comments of the event stream.'),
  queue_size: integer(256, 1, 'Max events waiting for one subscriber.'),
  max_subscribers: integer(16, 1, 'Max concurrent subscribers.'),
});

export const mcp = z.object({
  enable_mutating_tools: flag(false, 'List tools that change data. The token still needs the scope `write`.'),
});

export const observability = z.object({
  json_logs: flag(
    true,
    'Log one JSON object per line, otherwise readable lines. A terminal gets readable lines unless this is set.',
  ),
  log_level: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Min severity to log.'),
  metrics_snapshot_interval_s: aboveZero(15, 'Seconds between two stored snapshots of the metrics.'),
  traces: choice(['off', 'console', 'otlp'], 'off', 'Destination of traces.'),
  otlp_endpoint: addressOrNone('Address of the collector for `otlp`.'),
});
