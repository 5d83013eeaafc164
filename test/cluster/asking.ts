/** Requests to a cluster as a client makes them that reads Retry-After. */
import assert from 'node:assert/strict';
import { EventStream } from '../process/event-stream.ts';
import { type Answer, type RunningService, until } from '../process/service.ts';

/** A page that any search for its name finds. */
export const page = (name: string) => ({
  url: `https://example.com/${name}`,
  title: name,
  body_extracted: `A text about ${name}.`,
});

/** Ask until the library is open somewhere. */
export async function asked<Body>(
  host: RunningService,
  token: string,
  [method, path, body]: [string, string, unknown?],
): Promise<Answer<Body>> {
  let answer: Answer<Body> | undefined;
  await until(async () => {
    answer = await host.call<Body>(method, path, body, { token });
    if (answer.status === 503) assert.notEqual(answer.headers.get('retry-after'), null);
    return answer.status !== 503;
  }, `${method} ${path} is answered`);
  assert.ok(answer !== undefined);
  return answer;
}

/** Titles that a search finds, once the index of a library that was just opened is whole. */
export async function found(host: RunningService, token: string, query: string): Promise<string[]> {
  type Found = { results: { title: string }[]; timing_ms: { rebuilding?: number } };
  let body: Found | undefined;
  await until(async () => {
    body = (await asked<Found>(host, token, ['POST', '/v1/search', { query, min_relevance: 0.1 }])).body;
    return body.timing_ms.rebuilding === undefined;
  }, 'the index is whole');
  return (body?.results ?? []).map(({ title }) => title);
}

/** The events of a library, once it is open somewhere. */
export async function followed(host: RunningService, token: string): Promise<EventStream> {
  let events: EventStream | null = null;
  await until(async () => {
    events = await EventStream.openUnlessAway(host.url, token);
    return events !== null;
  }, 'events can be followed');
  assert.ok(events !== null);
  return events;
}
