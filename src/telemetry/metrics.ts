/** Metrics of the process and of each library, each in its own registry. Labels have few values: never ids, URLs or texts. */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { breakerStates, type SampleValue } from '../domain/admin.ts';

/** Values from a component that may not run yet. */
interface Collected<Values> {
  collected: (() => Values) | undefined;
}

export type Metrics = ReturnType<typeof createMetrics>;
export type LibraryMetrics = ReturnType<Metrics['ofLibrary']>;

/** Contract "The /metrics output"; all present from the start, so that rates work. */
const ingestOutcomes = ['queued', 'revisit', 'blacklisted'] as const;

/** From 0.5 ms, the target of a search, to ten seconds. */
const durationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string>(
      name: string,
      help: string,
      labelNames: Label[] = [],
      collect = (_gauge: Gauge<Label>) => {},
    ) =>
      new Gauge<Label>({
        ...{ name, help, labelNames, registers },
        collect() {
          collect(this);
        },
      }),
  };
}

export function createMetrics() {
  const registry = new Registry();
  const { counter, gauge } = metricsIn(registry);
  const ofLibraries: Registry[] = [];
  collectDefaultMetrics({ register: registry });
  // These gauges have names of counters, which metric checkers reject. The same values exist by type.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  const embeddingErrors = counter(
    'embedding_errors_total',
    'Embedding calls that failed after all retries, by provider.',
    ['provider'],
  );
  const breakers: Collected<readonly { name: string; state: string }[]> = { collected: undefined };
  gauge('breaker_state', 'Whether the breaker of a provider is in a state: 1 or 0.', ['name', 'state'], (each) => {
    for (const { name, state } of breakers.collected?.() ?? [])
      for (const other of breakerStates) each.set({ name, state: other }, other === state ? 1 : 0);
  });
  const libraries: Collected<Iterable<string>> = { collected: undefined };
  gauge('libraries', 'Libraries of this process, by state.', ['state'], (each) => {
    each.reset();
    for (const state of libraries.collected?.() ?? []) each.inc({ state });
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
    libraries,
    httpDuration,
    ofLibrary() {
      const library = createLibraryMetrics();
      ofLibraries.push(library.registry);
      /** Samples of the library and, unless `own`, of the process. */
      const samples = async ({ own } = { own: false }) =>
        samplesOf(await valuesOf(own ? [library.registry] : [registry, library.registry]));
      return { ...library, samples };
    },
    /** All metrics in text exposition format, with sums over the libraries. */
    async exposition() {
      const all = await Promise.all(ofLibraries.map((each) => each.getMetricsAsJSON()));
      const summed = AggregatorRegistry.aggregate(all);
      return { contentType: registry.contentType, text: `${await registry.metrics()}${await summed.metrics()}` };
    },
  };
}

function createLibraryMetrics() {
  const registry = new Registry();
  const { counter, gauge } = metricsIn(registry);
  const ingestPages = counter('ingest_pages_total', 'Submitted pages, by outcome.', ['outcome']);
  for (const outcome of ingestOutcomes) ingestPages.inc({ outcome }, 0);
  const jobs: Collected<Record<string, number>> = { collected: undefined };
  gauge('jobs', 'Jobs in the ledger, by status.', ['status'], (each) => {
    for (const [status, count] of Object.entries(jobs.collected?.() ?? {})) each.set({ status }, count);
  });
  const vectorsPending: Collected<number> = { collected: undefined };
  gauge('vectors_pending', 'Passages without a vector of the active model.', [], (each) =>
    each.set(vectorsPending.collected?.() ?? 0),
  );
  return {
    registry,
    jobs,
    vectorsPending,
    ingestPages,
    queryLogDropped: counter(
      'query_log_dropped_rows_total',
      'Searches that were answered and not logged, because too many waited or the store could not be written.',
    ),
    denseDegraded: counter(
      'dense_degraded_total',
      'Searches answered without the vector of their query, because its provider was down or late.',
    ),
    rerankDegraded: counter(
      'rerank_degraded_total',
      'Searches answered in the order before reranking, wholly or in part, because the reranker was down or late.',
    ),
    rerankCandidates: counter(
      'rerank_candidates_total',
      'Candidates given to a reranker of kind api, by whether it scored them in time.',
      ['outcome'],
    ),
    eventSubscribers: gauge('event_subscribers', 'Subscribers of the event stream.'),
    eventSubscriptionsEnded: counter(
      'event_subscriptions_ended_total',
      'Subscriptions to the event stream that ended: the client left or stalled, or the service stopped.',
      ['reason'],
    ),
    jobChanges: counter('job_changes_total', 'Changes of the status of jobs, by kind and new status.', [
      'kind',
      'status',
    ]),
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
