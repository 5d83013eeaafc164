/** What a tool is: a route, what of it a language model is offered, and what is told of its answer. Pure. */
import { z } from 'zod';
import { schemaFaults } from '../domain/schema-fault.ts';
import type { Answer } from './answer.ts';

/** Of the protocol: what a host may want to know before it lets a model call. */
export interface Hints {
  readOnlyHint: boolean;
  /** Whether it does more than add. */
  destructiveHint: boolean;
  /** Whether the same call again changes nothing more. */
  idempotentHint: boolean;
  /** Whether the service turns to the outside world for it. */
  openWorldHint: boolean;
}

export interface Tool {
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Route template, as the router has it. */
  url: string;
  /** For the model: what it does and gives. */
  description: string;
  hints: Hints;
  /**
   * What it takes, each described. A loose schema hands on whatever else is sent, and the route judges it: what its body may have
   * beyond what a model can use well is not listed, but taken.
   */
  input: z.ZodObject;
  /** Of the input, what the answer is cut by; the route is not asked for it. */
  own?: readonly string[];
  /** What the route is asked for besides, unless the caller sent something else. */
  asks?: Readonly<Record<string, unknown>>;
  /** Parsed JSON of a route's success; null where it has no body. */
  answer(body: unknown, args: Record<string, unknown>): Answer;
}

/** A tool, its answer typed by its input and by what its route gives. */
export function defineTool<Input extends z.ZodObject, Body>(
  tool: Omit<Tool, 'input' | 'answer'> & { input: Input; answer(body: Body, args: z.infer<Input>): Answer },
): Tool {
  return tool;
}

/** An id or a name in the path of a route. A dot or two would be taken for steps in the path, and half a character cannot be written. */
export const pathPart = z
  .string()
  .min(1)
  .refine((part) => part !== '.' && part !== '..' && part.isWellFormed(), { message: 'must name one' });

export interface InputSchema {
  type: 'object';
  [keyword: string]: unknown;
}

/** The input as it is listed. */
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

/** Arguments that a tool takes and the request that they stand for, or what is wrong with them. */
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

/** Faults that are told. */
const maxFaults = 10;

export function faultsInWords(faults: readonly { path: readonly (string | number)[]; msg: string }[]): string {
  const told = faults
    .slice(0, maxFaults)
    .map(({ path, msg }) => (path.length === 0 ? msg : `${path.join('.')}: ${msg}`));
  return [...told, ...(faults.length > maxFaults ? [`and ${faults.length - maxFaults} more`] : [])].join('; ');
}
