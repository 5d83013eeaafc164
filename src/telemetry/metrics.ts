/** Metrics of the process and of each library, each in its own registry. Labels have few values: never ids, URLs or texts. */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { breakerStates } from '../domain/breaker-state.ts';
import type { SampleValue } from '../domain/metrics.ts';

export interface Metrics {
  registry: Registry;
  embeddingErrors: Counter<'provider'>;
  breakers: Collected<readonly { name: string; state: string }[]>;
  libraries: Collected<Iterable<string>>;
  /** Seconds from the request's first byte to the answer's last, by route template. */
  httpDuration: Histogram<'method' | 'route' | 'status'>;
  ofLibrary(): LibraryMetrics;
  /** All metrics in text exposition, with sums over the libraries. */
  exposition(): Promise<{ contentType: string; text: string }>;
}

export interface LibraryMetrics {
  registry: Registry;
  /** Pages by outcome: contract "The /metrics output". */
  ingestPages: Counter<'outcome'>;
  /** Runs dropped by a full query log. */
  queryLogDropped: Counter;
  /** Searches without the query's vector, or without a complete reranking. */
  denseDegraded: Counter;
  rerankDegraded: Counter;
  /** Candidates of `reranker.provider` by outcome: `scored`, `unscored`. */
  rerankCandidates: Counter;
  eventSubscribers: Gauge;
  /** Status changes of jobs; `failed` and `dead` count failed attempts. */
  jobChanges: Counter<'kind' | 'status'>;
  /** Jobs by status, counted on request. */
  jobs: Collected<Record<string, number>>;
  vectorsPending: Collected<number>;
  eventSubscriptionsEnded: Counter<'reason'>;
  /** Current samples: the library's, and the process's unless `own`. */
  samples(of?: { own: boolean }): Promise<SampleValue[]>;
}

/** Values from a part that may not run yet. */
export interface Collected<Values> {
  collected: (() => Values) | undefined;
}

/** All present from the start, so that rates work. */
const ingestOutcomes = ['queued', 'revisit', 'blacklisted'] as const;

/** From half a millisecond, a search's goal, to ten seconds. */
const durationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const libraries: Registry[] = [];
  collectDefaultMetrics({ register: registry });
  // Gauges named like counters, which metric checkers reject; the same exist by type.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  const embeddingErrors = new Counter({
    name: 'embedding_errors_total',
    help: 'Calls for vectors that failed, retries included, by provider.',
    labelNames: ['provider'],
    registers: [registry],
  });
  const breakers: Metrics['breakers'] = { collected: undefined };
  new Gauge({
    name: 'breaker_state',
    help: 'Whether the breaker of a provider is in a state: 1 or 0.',
    labelNames: ['name', 'state'],
    registers: [registry],
    collect() {
      for (const { name, state } of breakers.collected?.() ?? []) {
        for (const each of breakerStates) this.set({ name, state: each }, each === state ? 1 : 0);
      }
    },
  });
  const open: Metrics['libraries'] = { collected: undefined };
  new Gauge({
    name: 'libraries',
    help: 'Libraries that this process has, by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const state of open.collected?.() ?? []) this.inc({ state });
    },
  });
  const httpDuration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request, by route template.',
    labelNames: ['method', 'route', 'status'],
    buckets: durationBuckets,
    registers: [registry],
  });
  return {
    registry,
    embeddingErrors,
    breakers,
    libraries: open,
    httpDuration,
    ofLibrary() {
      const library = createLibraryMetrics();
      libraries.push(library.registry);
      const samples = async ({ own } = { own: false }) =>
        samplesOf(await valuesOf(own ? [library.registry] : [registry, library.registry]));
      return { ...library, samples };
    },
    async exposition() {
      const summed = AggregatorRegistry.aggregate(await Promise.all(libraries.map((each) => each.getMetricsAsJSON())));
      return { contentType: registry.contentType, text: `${await registry.metrics()}${await summed.metrics()}` };
    },
  };
}

function createLibraryMetrics(): Omit<LibraryMetrics, 'samples'> {
  const registry = new Registry();
  const ingestPages = new Counter({
    name: 'ingest_pages_total',
    help: 'Submitted pages, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ingestOutcomes) ingestPages.inc({ outcome }, 0);
  const queryLogDropped = new Counter({
    name: 'query_log_dropped_rows_total',
    help: 'Searches that were answered and not logged, because too many waited or the store could not be written.',
    registers: [registry],
  });
  const denseDegraded = new Counter({
    name: 'dense_degraded_total',
    help: 'Searches answered without the vector of their query, because its provider was down or late.',
    registers: [registry],
  });
  const rerankDegraded = new Counter({
    name: 'rerank_degraded_total',
    help: 'Searches answered in the order before reranking, wholly or in part, because the reranker was down or late.',
    registers: [registry],
  });
  const rerankCandidates = new Counter({
    name: 'rerank_candidates_total',
    help: 'Candidates given to a reranker of kind api, by whether it scored them in time.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const eventSubscribers = new Gauge({
    name: 'event_subscribers',
    help: 'Subscribers of the event stream.',
    registers: [registry],
  });
  const eventSubscriptionsEnded = new Counter({
    name: 'event_subscriptions_ended_total',
    help: 'Subscriptions to the event stream that ended: the client left, it took nothing any more, or the service stopped.',
    labelNames: ['reason'],
    registers: [registry],
  });
  const jobChanges = new Counter({
    name: 'job_changes_total',
    help: 'Changes of the status of jobs, by kind and new status.',
    labelNames: ['kind', 'status'],
    registers: [registry],
  });
  const jobs: LibraryMetrics['jobs'] = { collected: undefined };
  new Gauge({
    name: 'jobs',
    help: 'Jobs in the ledger, by status.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      for (const [status, count] of Object.entries(jobs.collected?.() ?? {})) this.set({ status }, count);
    },
  });
  const vectorsPending: LibraryMetrics['vectorsPending'] = { collected: undefined };
  new Gauge({
    name: 'vectors_pending',
    help: 'Passages without a vector of the active model.',
    registers: [registry],
    collect() {
      this.set(vectorsPending.collected?.() ?? 0);
    },
  });
  return {
    registry,
    vectorsPending,
    ingestPages,
    queryLogDropped,
    denseDegraded,
    rerankDegraded,
    rerankCandidates,
    eventSubscribers,
    jobChanges,
    jobs,
    eventSubscriptionsEnded,
  };
}

async function valuesOf(registries: readonly Registry[]) {
  return (await Promise.all(registries.map((each) => each.getMetricsAsJSON()))).flat();
}

function samplesOf(metrics: Awaited<ReturnType<typeof valuesOf>>): SampleValue[] {
  return metrics.flatMap(({ name, type, values }) =>
    values.map((each) => {
      const labels = Object.entries(each.labels).map(([label, value]) => [label, String(value)]);
      const sample = 'metricName' in each && typeof each.metricName === 'string' ? each.metricName : name;
      const series = { metric: name, sample, labels: Object.fromEntries(labels), metric_type: String(type) };
      return { series, value: Number(each.value) };
    }),
  );
}
