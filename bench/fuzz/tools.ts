/** Calls of documented tools, as arbitraries, and which results they may have. */
import assert from 'node:assert/strict';
import type { ValidateFunction } from 'ajv';
import fc from 'fast-check';
import type { Schema } from '../../scripts/json-schema.ts';
import { prototypeKeyPath } from '../../src/domain/prototype-key.ts';
import { tools as backing } from '../../src/mcp/mcp-server.ts';
import { type Documented, type Operation, schemaChecks } from '../../test/process/documented.ts';
import { oneWrong, strangeValues, validOf } from './inputs.ts';
import type { Caller } from './requests.ts';

export interface ListedTool {
  name: string;
  inputSchema: Schema;
}

export interface ToolCall {
  tool: string;
  caller: Caller;
  /** JSON. Ids are placeholders until they are sent. */
  args: string;
}

interface ToolResult {
  content: { type: string; text: string }[];
  isError?: boolean;
}

/** An answer of the protocol. */
export interface Message {
  jsonrpc: '2.0';
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

export const callOf = (name: string, args: unknown, id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

export function callsOf(documented: Documented, tool: ListedTool): fc.Arbitrary<ToolCall> {
  const valid = validOf(documented, tool.inputSchema, '');
  return fc.record({
    tool: fc.constant(tool.name),
    caller: fc.oneof({ weight: 9, arbitrary: fc.constant('writer' as const) }, fc.constant('reader' as const)),
    args: fc.oneof(valid, oneWrong(valid)).map((args) => JSON.stringify(args)),
  });
}

/** Messages that are nearly of the protocol, and such that are not. */
export const strangeMessages: fc.Arbitrary<unknown> = fc.oneof(
  fc.record(
    {
      jsonrpc: fc.oneof(fc.constantFrom('2.0', '1.0'), strangeValues),
      id: fc.oneof(fc.nat(), strangeValues),
      method: fc.oneof(fc.constantFrom('tools/list', 'tools/call', 'initialize', 'ping', 'none'), strangeValues),
      params: fc.oneof(fc.constantFrom({}, { name: 'none' }, { name: 'search' }, { name: 7 }), strangeValues),
    },
    { requiredKeys: [] },
  ),
  fc.array(fc.constantFrom({ jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', method: 'ping' }, null, 7), {
    maxLength: 4,
  }),
);

/** Bytes of any answer. */
const maxAnswer = 50_000;

/** The judge of one tool's results. */
export class ToolJudge {
  readonly #operation: Operation;
  readonly #fits: ValidateFunction;

  constructor(documented: Documented, { name, inputSchema }: ListedTool) {
    const route = backing.find((each) => each.name === name);
    assert.ok(route !== undefined, `${name} is no tool`);
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    // The contract has it so: the operation's id is the tool's name.
    this.#operation = documented.operation(name);
    assert.deepEqual([this.#operation.method, this.#operation.path], [route.method, path]);
    this.#fits = schemaChecks().asked.compile(inputSchema);
  }

  /** Errors: an assertion fails. */
  judge(args: unknown, result: ToolResult): void {
    const [{ type, text }, ...others] = result.content;
    assert.deepEqual([type, others], ['text', []]);
    // Null stands for no arguments.
    const taken = args ?? {};
    const fits = this.#fits(taken) && prototypeKeyPath(taken) === null;
    if (result.isError === true) {
      const told = /^(\d{3}): /.exec(text)?.[1];
      // Without a status the arguments were refused before they were a request: rules beyond the listed schema count, too.
      if (told === undefined) assert.match(text, /^invalid arguments: /);
      else assert.ok(this.#operation.declares(Number(told)), text);
      assert.doesNotMatch(text, /^5(?!03)/);
      return;
    }
    assert.ok(fits, `arguments that do not fit were taken: ${JSON.stringify(args).slice(0, 300)}`);
    assert.match(text, /^[^<>\n]+(\n<untrusted_data [^<>]*>\n[^<>]+\n<\/untrusted_data>)?$/);
    assert.ok(Buffer.byteLength(text) < maxAnswer, `${text.length} characters`);
  }
}
