/**
 * Every setting by group, under the contract's names ("Settings that bound behaviour") and the design's. Both the
 * environment reader and the documentation walk this object.
 */
import { z } from 'zod';
import type { SettingMeta } from './declare.ts';
import * as indexing from './indexing-settings.ts';
import * as service from './service-settings.ts';
import * as source from './source-settings.ts';

export const settingsSchema = z.object({
  ...service.topLevel,
  backup: service.backup,
  canonicalize: indexing.canonicalize,
  chunking: indexing.chunking,
  cluster: indexing.cluster.extend(indexing.hosts),
  embedder: indexing.embedder,
  encoder: indexing.encoder,
  entity: indexing.entity,
  events: service.events,
  fetch: source.fetch,
  forget: service.forget,
  indexing: indexing.indexing,
  jobs: service.jobs,
  libraries: service.libraries,
  llm: indexing.llm,
  mcp: service.mcp,
  metrics: service.metrics,
  observability: service.observability,
  pdf: source.pdf,
  providers: z.record(z.string(), indexing.provider),
  query_log: service.queryLog,
  reranker: indexing.reranker,
  resilience: service.resilience,
  search: indexing.search,
  storage: service.storage,
  tls: service.tls,
  transcribe: source.transcribe,
  watch: source.watch,
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

/** The type below defaults and null. */
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

/** For example "a whole number, at least 1". */
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
