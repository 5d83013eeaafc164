/** Feeds and captions that take too long: refused for good only for the work that they are, not for a machine that is busy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MediaReader, openMediaReader } from '../../../src/actors/fetching/parser-pool.ts';
import { JobError } from '../../../src/domain/errors.ts';
import { markThread } from '../../../src/threads/time-limits.ts';

const notCounted = markThread() === null && 'processor time is not counted here';
const never = new AbortController().signal;
const hourMs = 3_600_000;

const item = '<item><title>Weir</title><link>https://weir.example/</link></item>';
const feedOf = (items: number) => ({
  bytes: Buffer.from(`<rss version="2.0"><channel><title>Weirs</title>${item.repeat(items)}</channel></rss>`),
  charset: null,
  url: 'https://weir.example/feed',
});
const captionsOf = (cues: number) => ({
  bytes: Buffer.from(`WEBVTT\n\n${'00:01.000 --> 00:02.000\nThe weir\n\n'.repeat(cues)}`),
  charset: null,
  chapters: [],
});
const infoOf = (formats: number) => Buffer.from(`{"formats": [${'{"a": 1}, '.repeat(formats)}{}]}`);

function assertFailure(error: unknown, message: string, permanent: boolean) {
  assert.ok(error instanceof JobError, String(error));
  assert.deepEqual([error.message, error.permanent], [message, permanent]);
}

/** The limit is kept by this thread: where that is held up for as long as a read takes, it is read. */
async function refused(read: () => Promise<unknown>): Promise<unknown> {
  for (let tries = 0; tries < 5; tries++) {
    try {
      await read();
    } catch (error) {
      return error;
    }
  }
  return assert.fail('it was read');
}

interface Limits {
  processorMs: number;
  timeoutMs: number;
}

/** Reads of much work by kind. */
const long = {
  feeds: ({ readItems, readEpisodes }: MediaReader) => {
    const feed = feedOf(140_000);
    return [() => readItems(feed, never), () => readEpisodes(feed, never)];
  },
  captions: ({ readCaptions, readInfo }: MediaReader) => [
    () => readCaptions(captionsOf(300_000), never),
    () => readInfo(infoOf(1_000_000), never),
  ],
};

async function assertRefused(kind: keyof typeof long, limits: Limits, message: string, permanent: boolean) {
  const reader = openMediaReader({ feeds: limits, videos: limits });
  try {
    for (const read of long[kind](reader)) assertFailure(await refused(read), message, permanent);
  } finally {
    await reader.close();
  }
}

for (const kind of ['feeds', 'captions'] as const) {
  test(`${kind} that are too much work are refused for good`, { skip: notCounted }, () =>
    assertRefused(kind, { processorMs: 20, timeoutMs: hourMs }, 'the file took longer than 0.02 s to read', true),
  );

  test(`${kind} that a busy machine has not read in time are read later`, () =>
    assertRefused(kind, { processorMs: hourMs, timeoutMs: 1 }, 'the file took longer than 0.001 s to read', false));
}
