/**
 * Traces by OpenTelemetry, loaded only where they are on: listens to the spans of src/tracing and hands them to the log
 * (`console`: one line a span) or to a collector (`otlp`, OTLP over HTTP). A lost span loses nothing else.
 */
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
import { type Remembered, remembered, type SpanRequest, spans } from '../tracing/span.ts';

export interface TracingOptions {
  traces: 'console' | 'otlp';
  /** Address of the collector; its own default (localhost:4318) where none. */
  endpoint: string | null;
  /** `user:password` for it. */
  userinfo: string | null;
  version: string;
  log: Logger;
}

export interface Tracing {
  /** Stop listening and send what waits. */
  close(): Promise<void>;
}

/** Jobs whose trace is remembered: those that wait longest lose theirs and begin one of their own. */
const maxRemembered = 10_000;
/** What a stop waits for a collector, ms. */
const closeWithinMs = 1_000;

const msOf = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;

/** One line of the log a span. */
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

function collectorExporter({ endpoint, userinfo }: TracingOptions): SpanExporter {
  const headers: Record<string, string> =
    userinfo === null ? {} : { authorization: `Basic ${Buffer.from(userinfo).toString('base64')}` };
  return new OTLPTraceExporter({ ...(endpoint === null ? {} : { url: endpoint }), headers });
}

/** Begin to trace. One at a time in a process: the package's context is global. */
export function startTracing(options: TracingOptions): Tracing {
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

  // Who names a parent belongs to it or, where that is forgotten, to nobody: never to whoever happens to run it.
  const contextOf = (parentKey: string | undefined): Context => {
    if (parentKey === undefined) return context.active();
    const parent = parents.get(parentKey);
    return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  };
  const onSpan = (message: unknown) => {
    const request = message as SpanRequest;
    const within = contextOf(request.parentKey);
    const kind = request.name.startsWith('http ') ? SpanKind.SERVER : SpanKind.INTERNAL;
    const span = tracer.startSpan(request.name, { attributes: request.attributes, kind }, within);
    request.result = context.with(trace.setSpan(within, span), request.run).then(
      (result) => {
        span.end();
        return result;
      },
      (error) => {
        // Its name only: a message may hold text of a page.
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
        span.end();
        throw error;
      },
    );
  };
  const onRemember = (message: unknown) => {
    const present = trace.getSpanContext(context.active());
    if (present === undefined) return;
    parents.set((message as Remembered).key, present);
    const [oldest] = parents.keys();
    if (parents.size > maxRemembered) parents.delete(oldest);
  };
  spans.subscribe(onSpan);
  remembered.subscribe(onRemember);

  return {
    close: async () => {
      spans.unsubscribe(onSpan);
      remembered.unsubscribe(onRemember);
      const failed = (error: unknown) => options.log.warn({ err: error }, 'the last traces could not be sent');
      await Promise.race([
        provider.shutdown().catch(failed),
        new Promise((resolve) => setTimeout(resolve, closeWithinMs).unref()),
      ]);
      context.disable();
    },
  };
}
