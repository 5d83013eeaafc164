/**
 * A server on loopback that speaks OpenAI's `/v1/embeddings`: models whose vectors the bench knows by text, and chance for any other text. They are
 * asked through the adapter of outside models, and their floor is measured as that of any.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { floorOfSample } from '../../src/compute/embedding/calibrate-floor.ts';
import { FLOOR_SAMPLE } from '../../src/compute/embedding/floor-sample.ts';
import type { Embedder } from '../../src/providers/embedder.ts';
import { openEmbedder } from '../../src/providers/open-embedder.ts';
import { gaussianRows } from './gaussian-rows.ts';

export class OracleServer {
  readonly #vectors = new Map<string, Map<string, Float32Array>>();
  readonly #dim: number;
  readonly #seed: number;
  readonly #server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { model, input } = JSON.parse(Buffer.concat(pieces).toString()) as { model: string; input: string[] };
    const data = input.map((text, index) => {
      const { buffer, byteOffset, byteLength } = this.#vectorOf(model, text);
      return { object: 'embedding', index, embedding: Buffer.from(buffer, byteOffset, byteLength).toString('base64') };
    });
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', model, data }));
  });

  constructor(dim: number, seed: number) {
    this.#dim = dim;
    this.#seed = seed;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** What a model answers to these texts; forgets what it knew. */
  teach(model: string, vectors: ReadonlyMap<string, Float32Array>): void {
    this.#vectors.set(model, new Map(vectors));
  }

  /** The model as readback asks it. */
  embedder(model: string): Embedder {
    const { port } = this.#server.address() as AddressInfo;
    const credentials = { api_key: null, userinfo: null };
    const { signal } = new AbortController();
    return openEmbedder({
      endpoint: { provider: 'oracle', baseUrl: `http://127.0.0.1:${port}/v1`, credentials },
      ...{ model, dim: this.#dim, maxInputTokens: 8192 },
      call: (attempt) => attempt(signal),
      wall: Date.now,
    });
  }

  /** The model's floor, measured as a backfill does. */
  async floorOf(model: string): Promise<number> {
    const rowsOf = (rows: Float32Array) =>
      Array.from({ length: rows.length / this.#dim }, (_, at) => rows.subarray(at * this.#dim, (at + 1) * this.#dim));
    const embedder = this.embedder(model);
    const passages = FLOOR_SAMPLE.map(({ passage }) => passage);
    const asked = FLOOR_SAMPLE.flatMap(({ queries }) => queries);
    const queries = rowsOf(await embedder.embed(asked, 'query'));
    return floorOfSample(
      rowsOf(await embedder.embed(passages, 'document')),
      FLOOR_SAMPLE.map((_, at) => queries.slice(2 * at, 2 * at + 2)),
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #vectorOf(model: string, text: string): Float32Array {
    const known = this.#vectors.get(model)?.get(text);
    if (known !== undefined) return known;
    let kind = 7;
    for (let at = 0; at < text.length; at++) kind = (Math.imul(kind, 31) + text.charCodeAt(at)) & 0x7fffffff;
    return gaussianRows(1, this.#dim, this.#seed, kind);
  }
}
