/** Recordings one at a time, in files that do not outlive them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recordingReader } from '../../../src/actors/fetching/read-recording.ts';
import type { Page } from '../../../src/domain/page.ts';
import { openRecordingFolder } from '../../../src/providers/recording-folder.ts';
import type { Transcription } from '../../../src/providers/transcription.ts';
import { pageRow } from '../../machines/rows.ts';
import { temporaryFolder } from '../../scope.ts';

const page: Page = pageRow();
const episode: Page = pageRow({ metadata: { watch_kind: 'podcast' } });
const context = { signal: new AbortController().signal, extendTime: async () => {} };

function reader(
  t: TestContext,
  transcribe: Transcription['transcribe'],
  reads = { audio: true, podcasts: true, videos: true },
) {
  const home = temporaryFolder(t);
  const root = join(home, 'tmp', 'recordings');
  const recordings = recordingReader({
    transcription: { found: { kind: 'command', detail: 'speech', ffmpeg: true }, transcribe },
    folder: openRecordingFolder(root),
    maxBytes: 100,
    timeoutMs: 1000,
    reads,
    random: () => 0.5,
  });
  return { root, recordings };
}

const nothingSaid = async () => [];

test('what was written is transcribed, and gone when it is closed', async (t) => {
  const { root, recordings } = reader(t, async ({ path }) => [
    { startS: 2, endS: 3, speaker: null, text: readFileSync(path, 'utf8') },
  ]);
  const recording = recordings.open(page);
  assert.deepEqual([recording.sink.maxBytes, recording.sink.timeoutMs], [100, 1000]);
  await recording.sink.write(Buffer.from('the weir '));
  await recording.sink.write(Buffer.from('of alder'));
  assert.deepEqual(await recording.read([], context), {
    text: 'the weir of alder',
    sections: [{ char_start: 0, title: null, start_s: 2 }],
  });
  assert.equal(readdirSync(root).length, 1);
  await recording.close();
  assert.deepEqual(readdirSync(root), []);
});

test('while one is read the others are sent away, until it is closed, however it ended', async (t) => {
  const { root, recordings } = reader(t, () => Promise.reject(new Error('no luck')));
  const first = recordings.open(page);
  for (const ask of [() => recordings.refuse(page), () => recordings.open(page)]) {
    assert.throws(ask, { code: 'host_waits', message: 'another recording is being read', retryAfterMs: 45_000 });
  }
  await first.sink.write(Buffer.from('x'));
  await assert.rejects(first.read([], context), { message: 'no luck' });
  await first.close();
  assert.deepEqual(readdirSync(root), []);
  const video = recordings.openVideo();
  assert.throws(() => recordings.openVideo(), { code: 'host_waits', retryAfterMs: 900_000 });
  writeFileSync(await video.path(), 'what another program has loaded');
  await video.close();
  assert.deepEqual(readdirSync(root), []);
  const second = recordings.open(page);
  await second.close();
  recordings.refuse(page);
});

test('a file that is being written is closed first; what comes after that is refused', async (t) => {
  const { root, recordings } = reader(t, nothingSaid);
  const recording = recordings.open(page);
  const writing = recording.sink.write(Buffer.alloc(1_000_000));
  await recording.close();
  await writing;
  assert.deepEqual(readdirSync(root), []);
  await assert.rejects(recording.sink.write(Buffer.from('late')));
});

test('silence is no page, and each kind has its own switch', async (t) => {
  const { recordings } = reader(t, nothingSaid, { audio: true, podcasts: false, videos: true });
  const recording = recordings.open(page);
  await assert.rejects(recording.read([], context), { code: 'no_text', permanent: true });
  await recording.close();
  assert.throws(() => recordings.refuse(episode), { message: /fetch\.podcast_transcripts is off/, permanent: true });
  const off = reader(t, nothingSaid, { audio: false, podcasts: true, videos: false }).recordings;
  assert.throws(() => off.refuse(page), { message: /fetch\.audio_transcripts is off/, permanent: true });
  off.refuse(episode);
  assert.deepEqual([recordings.readsVideos, off.readsVideos], [true, false]);
});
