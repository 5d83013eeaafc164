/** `/mcp`, Streamable HTTP without sessions: a tool call becomes a request to its route with the caller's token. */
import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { z } from 'zod';
import { listedTools, type RouteAnswer, type ToolHost, toolServer } from '../../mcp/mcp-server.ts';
import type { RouteCall } from '../../mcp/tool.ts';
import { clientSignal } from '../client-sockets.ts';
import { errorResponse, needsRead, type RouteGroup } from '../http-app.ts';

const mcpAdminResponse = z.strictObject({
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string().nullable(),
      inputSchema: z.record(z.string(), z.unknown()),
    }),
  ),
  enable_mutating_tools: z.boolean(),
});

const message = z.record(z.string(), z.unknown());

/** Bytes of a request, as in the protocol's own reader. `POST /v1/pages` accepts more. */
const mcpBodyLimit = 4 * 1024 * 1024;
/** Max messages of a batch. Only protocols before 2025-06-18 have batches. */
const maxBatch = 20;

/** Max concurrent tool calls of all clients. Each may have a route's answer in memory. */
const callsAtOnce = 4;

/** Header with the id of a call. It is only valid while the call runs. */
const callHeader = 'x-readback-call';

/** Calls routes of this server for a tool, with the tool call's credentials. */
function routeCaller(app: Parameters<RouteGroup>[0]) {
  // An injected request cannot be aborted once its body is read, so its answer is destroyed.
  const signals = new Map<string, AbortSignal>();
  app.addHook('onRequest', async ({ headers }, reply) => {
    const signal = signals.get(String(headers[callHeader]));
    signal?.addEventListener('abort', () => reply.raw.destroy(), { once: true });
  });

  return async (
    caller: FastifyRequest,
    { method, url, body }: RouteCall,
    signal: AbortSignal,
  ): Promise<RouteAnswer> => {
    const { authorization, host = 'localhost' } = caller.headers;
    const callId = randomUUID();
    signal.throwIfAborted();
    signals.set(callId, signal);
    try {
      const answer = await app.inject({
        method,
        url,
        headers: { host, [callHeader]: callId, ...(authorization === undefined ? {} : { authorization }) },
        ...(body === undefined ? {} : { payload: body }),
      });
      caller.log.debug({ status: answer.statusCode, call: answer.headers['x-request-id'] }, 'a tool was called');
      return { status: answer.statusCode, body: parsed(answer.payload) };
    } finally {
      signals.delete(callId);
    }
  };
}

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { requestId?: unknown; [name: string]: unknown } | null;
}

/** Some clients write null for a missing parameter. */
function dropNulls(message: Message | null): void {
  if (message?.params === null) delete message.params;
  const params = message?.params ?? {};
  for (const name in params) if (params[name] === null) delete params[name];
}

const isId = (id: unknown) => id === undefined || typeof id === 'string' || typeof id === 'number';
const hasOtherId = (message: Message | null) => !isId(message?.id) || !isId(message?.params?.requestId);

const keyOf = (request: FastifyRequest, id: unknown): string =>
  JSON.stringify([request.holder?.library, request.holder?.name, id]);

function parsed(payload: string): unknown {
  return payload === '' ? null : JSON.parse(payload);
}

export const mcpRoutes: RouteGroup = (app, { version, listsMutatingTools }) => {
  /** Running calls by token name and call id, for cancellations. Ambiguous ids are ignored. */
  const underWay = new Map<AbortController, string>();
  const cancel = (key: string) => {
    const same = [...underWay].filter(([, other]) => other === key);
    if (same.length === 1) same[0][0].abort();
  };

  const call = routeCaller(app);
  const inTurn = pLimit(callsAtOnce);
  const hostFor = (request: FastifyRequest): ToolHost => ({
    version,
    listsMutating: listsMutatingTools,
    call: (routeCall, signal) => inTurn(() => call(request, routeCall, signal)),
  });

  app.post(
    '/mcp',
    {
      bodyLimit: mcpBodyLimit,
      config: { scope: 'read' },
      schema: {
        operationId: 'mcp',
        summary: 'Model Context Protocol over Streamable HTTP, without sessions',
        description: `A tool call needs the scope of the tool’s route. A body has at most ${mcpBodyLimit / 2 ** 20} MB, a batch ${maxBatch} messages.`,
        response: {
          200: z.union([message, z.array(message)]),
          202: z.null(),
          400: message,
          406: message,
        },
      },
    },
    async (request, reply) => {
      const messages = [request.body].flat() as (Message | null)[];
      for (const message of messages) dropNulls(message);
      const refuse = (message: string) =>
        reply.code(400).send({ jsonrpc: '2.0', error: { code: ErrorCode.InvalidRequest, message }, id: null });
      if (messages.length > maxBatch) return refuse(`a batch has ${maxBatch} messages at most`);
      if (messages.some(hasOtherId)) return refuse('an id is a string or a number');
      for (const message of messages) {
        if (message?.method === 'notifications/cancelled') cancel(keyOf(request, message.params?.requestId));
      }
      const called = messages.filter((message) => message?.method === 'tools/call');
      const calls = called.map((message) => [new AbortController(), keyOf(request, message?.id)] as const);
      for (const [controller, key] of calls) underWay.set(controller, key);
      const stop = AbortSignal.any([clientSignal(reply), ...calls.map(([{ signal }]) => signal)]);
      const server = toolServer(hostFor(request));
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      try {
        await server.connect(transport);
        const answering = transport.handleRequest(webRequestOf(request), { parsedBody: request.body });
        const answer = await Promise.race([answering, aborted(stop)]);
        return await answerAs(reply, answer);
      } finally {
        for (const [controller] of calls) underWay.delete(controller);
        await server.close();
      }
    },
  );

  // Without sessions there is nothing to stream or delete. The protocol requires 405.
  for (const [method, operationId] of [
    ['GET', 'mcp_listen'],
    ['DELETE', 'mcp_end'],
  ] as const) {
    app.route({
      method,
      url: '/mcp',
      config: { scope: 'read' },
      exposeHeadRoute: false,
      schema: {
        operationId,
        summary: 'Not allowed: there are no sessions',
        response: { 405: errorResponse },
      },
      handler: async (_request, reply) =>
        reply.code(405).header('allow', 'POST').send({ detail: 'only POST: there are no sessions' }),
    });
  }

  app.get(
    '/v1/admin/mcp',
    needsRead({
      operationId: 'mcp_tools',
      summary: 'The list of tools',
      response: { 200: mcpAdminResponse },
    }),
    async () => ({
      tools: listedTools({ listsMutating: listsMutatingTools }).map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema,
      })),
      enable_mutating_tools: listsMutatingTools,
    }),
  );
};

const takesJson = /\*\/\*|application\/(?:\*|json)/i;

/** The body is already parsed; the transport requires Accept to name both types of the protocol. */
function webRequestOf({ headers: { accept = '*/*', ...headers } }: FastifyRequest): Request {
  const kept = Object.entries(headers).filter(([, value]) => value !== undefined);
  const request = new Headers(kept.map(([name, value]) => [name, String(value)] as [string, string]));
  request.delete('content-length');
  request.set('content-type', 'application/json');
  request.set('accept', takesJson.test(accept) ? 'application/json, text/event-stream' : accept);
  return new Request('http://localhost/mcp', { method: 'POST', headers: request });
}

/** Ends a call that no client waits for. */
function aborted(signal: AbortSignal): Promise<Response> {
  return new Promise((resolve) => {
    const give = () => resolve(new Response(null, { status: 202 }));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

async function answerAs(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const type = answer.headers.get('content-type');
  if (type !== null) reply.header('content-type', type);
  return reply.code(answer.status).send(answer.body === null ? undefined : await answer.text());
}
