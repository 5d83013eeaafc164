/** OpenTelemetry traces, loaded only if enabled: sends the spans of src/compute/span.ts to the log (`console`) or a collector (`otlp`, OTLP over HTTP). */
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import { type Attributes, setTracer } from '../compute/span.ts';

export interface TracingOptions {
  traces: 'console' | 'otlp';
  /** The collector's address; null for the default (localhost:4318). */
  endpoint: string | null;
  /** `user:password`, and parameters of the address. */
  userinfo: string | null;
  query: string | null;
  version: string;
  log: Logger;
}

/** Max jobs with a remembered trace. Above it, the oldest begin their own traces. */
const maxRemembered = 10_000;
/** Max wait for a collector when the process stops, ms. */
const closeWithinMs = 1_000;

const msOf = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;

function logExporter(log: Logger): SpanExporter {
  return {
    export: (ended: ReadableSpan[], done) => {
      for (const span of ended) {
        const { traceId, spanId } = span.spanContext();
        const parent = span.parentSpanContext?.spanId ?? null;
        const ms = Math.round(msOf(span.duration) * 1000) / 1000;
        const failed = span.status.code === SpanStatusCode.ERROR;
        log.info(
          { trace_id: traceId, span_id: spanId, parent, name: span.name, ms, failed, ...span.attributes },
          'span',
        );
      }
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
}

function collectorExporter({ endpoint, userinfo, query }: TracingOptions): SpanExporter {
  const headers: Record<string, string> =
    userinfo === null ? {} : { authorization: `Basic ${Buffer.from(userinfo).toString('base64')}` };
  const url = query === null ? endpoint : `${endpoint}?${query}`;
  return new OTLPTraceExporter({ ...(url === null ? {} : { url }), headers });
}

/** Call once per process, because the package's context is global. */
export function startTracing(options: TracingOptions) {
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  const processor =
    options.traces === 'console'
      ? new SimpleSpanProcessor(logExporter(options.log))
      : new BatchSpanProcessor(collectorExporter(options));
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'readback', 'service.version': options.version }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('readback');
  const parents = new Map<string, SpanContext>();

  // If the parent is unknown, the context is empty, never the current one.
  const contextOf = (parentKey: string | undefined): Context => {
    if (parentKey === undefined) return context.active();
    const parent = parents.get(parentKey);
    return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  };
  setTracer({
    run<Result>(name: string, attributes: Attributes, work: () => Promise<Result>, parentKey: string | undefined) {
      const kind = name.startsWith('http ') ? SpanKind.SERVER : SpanKind.INTERNAL;
      return tracer.startActiveSpan(name, { attributes, kind }, contextOf(parentKey), async (span): Promise<Result> => {
        try {
          return await work();
        } catch (error) {
          // Only the name: a message may contain page text.
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
          throw error;
        } finally {
          span.end();
        }
      });
    },
    remember(key) {
      const present = trace.getSpanContext(context.active());
      if (present === undefined) return;
      parents.set(key, present);
      const [oldest] = parents.keys();
      if (parents.size > maxRemembered) parents.delete(oldest);
    },
  });

  return {
    close: async (): Promise<void> => {
      setTracer(null);
      const failed = (error: unknown) => options.log.warn({ err: error }, 'the last traces could not be sent');
      await Promise.race([
        provider.shutdown().catch(failed),
        new Promise((resolve) => setTimeout(resolve, closeWithinMs).unref()),
      ]);
      context.disable();
    },
  };
}
