/**
 * A server on loopback that speaks what `readback model try` needs of Ollama (version, tags, pull), OpenAI's `/v1/embeddings`, which both
 * have, and the `/rerank` and `/info` of Text Embeddings Inference. What a text's vector is, the test says; it may be down, or hold its answers
 * back.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../scope.ts';

export class EmbeddingServer {
  url = '';
  /** Texts that got a vector. */
  embedded = 0;
  /** Names of models that it has; a pull adds one. */
  readonly models: Set<string>;
  /** Which model it says that it has, as Text Embeddings Inference does. */
  modelId: string | null = null;
  /** Calls for vectors break. */
  isDown = false;
  /** So does every other. */
  isGone = false;
  /** Vectors wait for this. */
  gate: Promise<void> = Promise.resolve();
  /** Called with how many texts got a vector in all, and the texts of a call, before it is answered. */
  onEmbeddings: (embedded: number, texts: readonly string[]) => void = () => {};
  /** How well a text answers a query. */
  scoreOf: (query: string, text: string) => number = () => 0;
  readonly #vectorOf: (text: string, model: string) => readonly number[];

  private constructor(models: readonly string[], vectorOf: (text: string, model: string) => readonly number[]) {
    this.models = new Set(models);
    this.#vectorOf = vectorOf;
  }

  static async start(
    scope: Scope,
    models: readonly string[],
    vectorOf: (text: string, model: string) => readonly number[],
  ): Promise<EmbeddingServer> {
    const told = new EmbeddingServer(models, vectorOf);
    const server = createServer((request, response) => {
      told.#serve(request, response).catch((error) => response.destroy(error));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    told.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    scope.after(async () => {
      server.closeAllConnections();
      server.close();
    });
    return told;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = pieces.length === 0 ? {} : JSON.parse(Buffer.concat(pieces).toString());
    const isEmbedding = request.url === '/v1/embeddings';
    const texts = isEmbedding ? [body.input].flat().map(String) : [];
    if (this.isGone || (this.isDown && isEmbedding)) {
      response.socket?.resetAndDestroy();
      return;
    }
    if (isEmbedding) {
      this.embedded += texts.length;
      this.onEmbeddings(this.embedded, texts);
      await this.gate;
    }
    const json = (answer: unknown) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    switch (request.url) {
      case '/api/version':
        json({ version: '0.12.3' });
        return;
      case '/api/tags':
        json({ models: [...this.models].map((name) => ({ name: `${name}:latest`, size: 1 })) });
        return;
      case '/api/pull': {
        response.setHeader('content-type', 'application/x-ndjson');
        const say = (line: object) => response.write(`${JSON.stringify(line)}\n`);
        if (body.model === 'unheard-of') {
          say({ error: 'pull model manifest: file does not exist' });
        } else {
          say({ status: 'pulling manifest' });
          for (const completed of [100, 60_000_000, 120_000_000])
            say({ status: 'pulling 6a', digest: 'sha256:6a', total: 120_000_000, completed });
          this.models.add(body.model);
          say({ status: 'success' });
        }
        response.end();
        return;
      }
      case '/v1/embeddings': {
        const data = texts.map((text, index) => {
          const embedding = this.#vectorOf(text, body.model);
          const packed = () => Buffer.from(Float32Array.from(embedding).buffer).toString('base64');
          return { object: 'embedding', index, embedding: body.encoding_format === 'base64' ? packed() : embedding };
        });
        json({ object: 'list', data, model: body.model });
        return;
      }
      case '/info':
        json(this.modelId === null ? {} : { model_id: this.modelId, served_model_name: this.modelId });
        return;
      case '/rerank':
        json(body.texts.map((text: string, index: number) => ({ index, score: this.scoreOf(body.query, text) })));
        return;
      default:
        response.writeHead(404).end('{}');
    }
  }
}
