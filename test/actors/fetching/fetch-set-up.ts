import type { TestContext } from 'node:test';
import { textReaders } from '../../../src/actors/fetching/content-readers.ts';
import { fetchAndIndexHandler } from '../../../src/actors/fetching/fetch-and-index.ts';
import { recordingReader } from '../../../src/actors/fetching/read-recording.ts';
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
  const [first] = await temporary.claim(10_000);
  const handler = fetchAndIndexHandler({
    reader: temporary.reader,
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
  const run = async (job = first.job) =>
    handler(job, contextOf(temporary, { job_no: job.no, claim: job.claim }, 10_000));
  return { temporary, indexed, bare, run };
}
