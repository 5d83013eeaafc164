/** More searches than can be answered: what is too much is refused in so many words, and memory does not grow with what waits. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import type { SearchResponse } from '../../src/domain/search.ts';
import { embedderAt, RunningService, token, until } from '../process/service.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';

interface FloodAnswer {
  status: number;
  /** NaN where none is said. */
  retryAfterS: number;
}

function rawRequest(url: string, path: string, body: unknown): string {
  const json = JSON.stringify(body);
  const head = [`POST ${path} HTTP/1.1`, `host: ${new URL(url).host}`, `authorization: Bearer ${token}`];
  return [...head, 'content-type: application/json', `content-length: ${json.length}`, '', json].join('\r\n');
}

/** What a searcher thread has at a time and in its queue (src/engine/index-threads.ts). There is one for two cores. */
const searchesOfThread = 128 + 1024;
const connections = Math.max(1, Math.floor(availableParallelism() / 2)) * searchesOfThread + 100;

/** Send a request on a connection of its own: those of one are answered one after another. Errors: it ends before its answer. */
async function answerOf(url: string, request: string): Promise<FloodAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  let text = '';
  for await (const piece of socket.setEncoding('latin1')) {
    text += piece;
    if (text.includes('\r\n\r\n')) break; // which closes the connection
  }
  assert.match(text, /^HTTP\/1\.1 \d+/, 'a connection ended with its request unanswered');
  return { status: Number(text.slice(9, 12)), retryAfterS: Number(/^retry-after: (.*)$/im.exec(text)?.[1]) };
}

/** Resident memory of the service, MB. */
function residentMb(service: RunningService): number {
  const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}

test('a flood of searches is answered or refused with a time to come back, and then everything is as before', async (t) => {
  const provider = await startFakeProvider(t, { dim: 16 });
  const service = await RunningService.start(t, embedderAt(provider.url));
  await service.add({
    url: 'https://quay.example/',
    body_extracted: 'A ferry takes cargo to the crane with the tide.',
  });
  const before = residentMb(service);
  const search = () => service.call<SearchResponse>('POST', '/v1/search', { query: 'ferry cargo crane tide', k: 10 });
  assert.equal((await search()).status, 200);
  // None of them ends before one was refused: each waits for the vector of its query.
  let letGo = () => {};
  const after = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  provider.faultOf = () => ({ kind: 'late', after });
  const request = rawRequest(service.url, '/v1/search', {
    query: 'ferries and cranes',
    k: 1,
    rerank: false,
    suggest: 0,
    log: false,
  });
  const refused: FloodAnswer[] = [];
  const answers = Promise.all(
    Array.from({ length: connections }, async () => {
      const answer = await answerOf(service.url, request);
      // 408: this process was held up before it sent the request.
      if (answer.status !== 200 && answer.status !== 408) refused.push(answer);
      return answer;
    }),
  );
  await Promise.race([until(() => refused.length > 0, 'one is refused'), answers]);
  letGo();
  const answered = (await answers).length - refused.length;
  for (const { status, retryAfterS } of refused) {
    assert.equal(status, 503);
    assert.ok(retryAfterS > 0);
  }
  assert.ok(refused.length > 0 && answered > 0, `${refused.length} of ${connections} refused`);
  assert.equal((await search()).status, 200);
  t.diagnostic(`${refused.length} of ${connections} refused, ${(residentMb(service) - before).toFixed(0)} MB more`);
  assert.ok(residentMb(service) - before < 300);
});
