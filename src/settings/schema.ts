/**
 * Every setting there is, by group, under the contract's names ("Settings that bound behaviour") and the design's further ones.
 * Reading the environment and the documentation walk this one object.
 */
import { z } from 'zod';
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
  transcribe: source.transcribe,
  watch: source.watch,
});

/** All settings as declared, secrets still in their places. */
export type DeclaredSettings = z.infer<typeof settingsSchema>;
