/** A store with one page whose fetch job runs, against the small web on loopback. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { textReaders } from '../../../src/actors/fetching/content-readers.ts';
import { fetchAndIndexHandler } from '../../../src/actors/fetching/fetch-and-index.ts';
import { recordingReader } from '../../../src/actors/fetching/read-recording.ts';
import { claimJobs } from '../../../src/commands/claim-jobs.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { defaultTrackingParams } from '../../../src/compute/web/canonical-url.ts';
import type { Lookup } from '../../../src/providers/resolve-host.ts';
import { openTranscription } from '../../../src/providers/transcription.ts';
import { createWebFetch } from '../../../src/providers/web-fetch.ts';
import { readFetched } from '../../../src/threads/extract-thread.ts';
import { submission } from '../../commands/submissions.ts';
import { patienceMs } from '../../process/service.ts';
import type { Site } from '../../providers/small-web.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { contextOf } from '../attempt-context.ts';

export const claim = claimJobs({
  at: 10_000,
  incarnation: 'life 1',
  leaseMs: 600,
  free: { suspect: 9, index: 9, fetch: 9, purge: 9, poll: 9, background: 9, backfill: 9, entities: 9 },
  running: 0,
});

/** A store with one page, at `path` of the site, whose fetch job runs; and the handler for it. */
export async function setUp(t: TestContext, site: Site, path: string, lookup?: Lookup) {
  const temporary = await TemporaryStore.open();
  t.after(() => temporary[Symbol.asyncDispose]());
  const indexed: number[] = [];
  const bare: object[] = [];
  await temporary.commit(
    ingestPage(
      submission({ canonical_url: site.url(path), domain: '127.0.0.1', title: null, body: null, content_hash: null }),
    ),
  );
  const { jobs } = await temporary.commit(claim);
  const handler = fetchAndIndexHandler({
    reader: temporary.store.reader,
    commit: (command) => temporary.commit(command),
    fetch: createWebFetch({
      allowPrivateHosts: ['127.0.0.1'],
      perHostGapMs: 0,
      timeoutMs: patienceMs,
      maxBytes: 100_000,
      userAgent: 'test',
      ...(lookup === undefined ? {} : { lookup }),
    }),
    readers: textReaders(async (content) => readFetched(content)),
    readVideo: async () => null,
    extract: () => Promise.reject(new Error('there is no feed')),
    episodes: { published: async () => null, chapters: async () => [] },
    recordings: recordingReader({
      transcription: openTranscription(
        { program_path: '', transcribe: { command: null, base_url: null }, fetch: { video_speech_model: 'small' } },
        null,
      ),
      folder: { create: () => Promise.reject(new Error('nothing is to be loaded')) },
      maxBytes: 1,
      timeoutMs: 1,
      reads: { audio: true, podcasts: true, videos: true },
      random: () => 0,
    }),
    index: async ({ page, attempt }) => {
      bare.push({ title: page.title, metadata: page.metadata, attempt });
    },
    readEntities: true,
    now: () => 20_000,
    indexPage: async (job) => {
      indexed.push(job.page_no ?? 0);
      return undefined;
    },
    canonicalize: { tracking_params: defaultTrackingParams, keep_params: {} },
  });
  const run = async (job = jobs[0]) => {
    assert.ok(job !== undefined);
    const attempt = { job_no: job.no, claim: job.claim };
    return handler(job, contextOf(temporary, attempt, 10_000));
  };
  return { temporary, indexed, bare, run };
}
