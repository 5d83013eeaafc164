/** A tool: a route, the part of it that a language model sees, and the format of its answer. Pure. */
import { z } from 'zod';
import { schemaFaults } from '../domain/schema-fault.ts';
import type { Answer } from './answer.ts';

export interface Hints {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface Tool {
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  description: string;
  hints: Hints;
  /** Every field has a description. A loose schema passes other fields to the route. */
  input: z.ZodObject;
  /** Input that only shortens the answer and is not sent to the route. */
  own?: readonly string[];
  /** Defaults for the route. */
  asks?: Readonly<Record<string, unknown>>;
  /** Gets the parsed JSON of a success; null without a body. */
  answer(body: unknown, args: Record<string, unknown>): Answer;
}

export function defineTool<Input extends z.ZodObject, Body>(
  tool: Omit<Tool, 'input' | 'answer'> & { input: Input; answer(body: Body, args: z.infer<Input>): Answer },
): Tool {
  return tool;
}

/** An id or a name in a route's path. Dots would change the path, and a lone surrogate cannot be encoded. */
export const pathPart = z
  .string()
  .min(1)
  .refine((part) => part !== '.' && part !== '..' && part.isWellFormed(), { message: 'must name one' });

export interface InputSchema {
  type: 'object';
  [keyword: string]: unknown;
}

export function inputSchema({ input }: Tool): InputSchema {
  const { $schema, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties = false;
    },
  });
  return { ...schema, type: 'object' };
}

export interface RouteCall {
  method: Tool['method'];
  url: string;
  body: Record<string, unknown> | undefined;
}

/** The validated arguments and the request, or the faults. */
export function toolCall(tool: Tool, sent: unknown): { args: Record<string, unknown>; request: RouteCall } | string {
  const parsed = tool.input.safeParse(sent, { reportInput: true });
  if (!parsed.success) return `invalid arguments: ${faultsInWords(schemaFaults(parsed.error))}`;
  const args: Record<string, unknown> = parsed.data;
  const rest = new Map(Object.entries({ ...tool.asks, ...args }));
  for (const name of tool.own ?? []) rest.delete(name);
  const path = tool.url.replace(/:(\w+)/g, (_, name: string) => {
    rest.delete(name);
    return encodeURIComponent(String(args[name]));
  });
  if (tool.method !== 'GET')
    return {
      args,
      request: { method: tool.method, url: path, body: rest.size === 0 ? undefined : Object.fromEntries(rest) },
    };
  const query = new URLSearchParams([...rest].map(([name, value]): [string, string] => [name, String(value)]));
  return { args, request: { method: 'GET', url: query.size === 0 ? path : `${path}?${query}`, body: undefined } };
}

const maxFaults = 10;

export function faultsInWords(faults: readonly { path: readonly (string | number)[]; msg: string }[]): string {
  const listed = faults
    .slice(0, maxFaults)
    .map(({ path, msg }) => (path.length === 0 ? msg : `${path.join('.')}: ${msg}`));
  return [...listed, ...(faults.length > maxFaults ? [`and ${faults.length - maxFaults} more`] : [])].join('; ');
}
