/**
 * What a running service says of itself, as a judge: the operations of its OpenAPI document, whether a body fits an operation, and
 * whether an answer is one that the operation declares.
 */
import assert from 'node:assert/strict';
import { type ErrorObject, Ajv2020 as Schemas, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Schema } from '../../scripts/json-schema.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  required?: boolean;
  schema: Schema;
}

interface DocumentedOperation {
  operationId: string;
  parameters?: Parameter[];
  security?: object[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface Document {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  id: string;
  method: string;
  /** With `{name}` where a parameter stands. */
  path: string;
  parameters: Parameter[];
  /** Asks for no token, and may still answer 401. */
  isPublic: boolean;
  /** Its body is a file. */
  takesFile: boolean;
  /** Undefined where no body is asked for. */
  body: Schema | undefined;
  /** What is wrong with a body, as the names that lead to each fault joined by slashes; empty: nothing that a schema can say. */
  faultsOf(body: unknown): string[];
  /** The same of one query parameter's text. */
  queryFaultsOf(parameter: Parameter, text: string): string[];
  declares(status: number): boolean;
  /** Fails where the answer is none that the operation declares. `body` is text, or parsed where it came as JSON. */
  judge(answer: { status: number; type: string; body: unknown }): void;
}

/** Datetimes have more spellings than any one grammar of them; what all agree on is that naive ones are none. */
const isPerhapsDatetime = (text: string): boolean => !/^\d{4}-\d\d-\d\dT[\d:.]+$/.test(text);

/** The way to the field that a fault is about. */
function placeOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath.split('/').slice(1).map(unescaped);
  if (keyword === 'required') path.push(params.missingProperty);
  if (keyword === 'additionalProperties') path.push(params.additionalProperty);
  return path.join('/');
}

const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');
const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** How truth values are written in a query, in any case. */
const truthValues = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** A query parameter as its schema would have it: numbers and booleans come as text. */
function readAs({ type }: Schema, text: string): unknown {
  if (type === 'integer') return /^-?\d+$/.test(text) ? Number(text) : text;
  if (type === 'number') return /^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
  if (type === 'boolean') return truthValues.get(text.toLowerCase()) ?? text;
  return text;
}

/** Checks of JSON Schemas: those of requests, which are taken as they are read, and those of answers, which are strict. */
export function schemaChecks(): { asked: Schemas; answered: Schemas } {
  const options = { strict: false, allErrors: true };
  const asked = new Schemas({ ...options, formats: { 'date-time': isPerhapsDatetime } });
  const answered = new Schemas(options);
  addFormats.default(answered);
  return { asked, answered };
}

const root = 'document';

export class Documented {
  readonly operations: readonly Operation[];
  readonly #document: Document;
  readonly #asked: Schemas;
  readonly #answered: Schemas;

  constructor(document: Document) {
    this.#document = document;
    const { asked, answered } = schemaChecks();
    for (const schemas of [asked, answered]) schemas.addSchema({ $id: root, ...document });
    this.#asked = asked;
    this.#answered = answered;
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => this.#operation(path, method, operation)),
    );
  }

  /** Errors: there is none of this id. */
  operation(id: string): Operation {
    const found = this.operations.find((each) => each.id === id);
    assert.ok(found !== undefined, `no operation ${id}`);
    return found;
  }

  /** The operation that answers a request; undefined: none, as no route has such a path. */
  at(method: string, target: string): Operation | undefined {
    const parts = target.split('?')[0].split('/');
    const fits = ({ path }: Operation) => {
      const own = path.split('/');
      return own.length === parts.length && own.every((part, at) => part === parts[at] || part.startsWith('{'));
    };
    const found = this.operations.filter((each) => each.method === method && fits(each));
    return found.find(({ path }) => !path.includes('{')) ?? found[0];
  }

  /** A schema itself, where it only names one. */
  resolve(schema: Schema): Schema {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? '')?.[1];
    return name === undefined ? schema : this.resolve(this.#document.components.schemas[name]);
  }

  #operation(
    path: string,
    method: string,
    { operationId, parameters = [], security, requestBody, responses }: DocumentedOperation,
  ) {
    const at = ['paths', path, method];
    const body = requestBody?.content['application/json']?.schema;
    const checkBody = body && this.#check(this.#asked, [...at, 'requestBody', 'content', 'application/json', 'schema']);
    const faults = (check: ValidateFunction, value: unknown): string[] =>
      check(value) ? [] : (check.errors ?? []).map(placeOf);
    const checksOfQuery = new Map(
      parameters.map((parameter, i) => [
        parameter,
        this.#check(this.#asked, [...at, 'parameters', String(i), 'schema']),
      ]),
    );
    const judge: Operation['judge'] = ({ status, type, body: answer }) => {
      const declared = responses[status];
      assert.ok(declared !== undefined, `status ${status} is not declared: ${JSON.stringify(answer).slice(0, 300)}`);
      const [media] = type.split(';');
      if (declared.content === undefined) {
        assert.equal(answer, '', `${status} has a body`);
        return;
      }
      assert.ok(media in declared.content, `${status} comes as ${media || 'nothing'}`);
      const check = this.#check(this.#answered, [...at, 'responses', String(status), 'content', media, 'schema']);
      assert.ok(check(answer), `${status} does not fit: ${this.#answered.errorsText(check.errors).slice(0, 500)}`);
    };
    return {
      id: operationId,
      method: method.toUpperCase(),
      path,
      parameters,
      isPublic: security?.length === 0,
      takesFile: requestBody !== undefined && body === undefined,
      body,
      faultsOf: (value: unknown) => (checkBody === undefined ? [] : faults(checkBody, value)),
      queryFaultsOf: (parameter: Parameter, text: string) => {
        const check = checksOfQuery.get(parameter);
        return check && faults(check, readAs(parameter.schema, text)).length > 0 ? [parameter.name] : [];
      },
      declares: (status: number) => status in responses,
      judge,
    };
  }

  #check(schemas: Schemas, path: readonly string[]): ValidateFunction {
    const ref = `${root}#/${path.map((part) => encodeURIComponent(escaped(part))).join('/')}`;
    const check = schemas.getSchema(ref);
    assert.ok(check !== undefined, `no schema at ${ref}`);
    return check;
  }
}
