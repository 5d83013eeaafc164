/** Transcribes recordings one at a time: each takes minutes and all processors. Postponed attempts do not count. */
import { type Chapter, type TranscriptText, transcriptText } from '../../compute/transcript/transcript-text.ts';
import type { Page } from '../../domain/page.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { RecordingFile, RecordingFolder } from '../../providers/recording-folder.ts';
import type { Transcription } from '../../providers/transcription.ts';
import type { BodySink } from '../../providers/web-fetch.ts';
import type { JobContext } from '../system/job-actor.ts';

export interface RecordingReaderDependencies {
  transcription: Transcription;
  folder: RecordingFolder;
  maxBytes: number;
  timeoutMs: number;
  reads: { audio: boolean; podcasts: boolean; videos: boolean };
  random: () => number;
}

export type RecordingReader = ReturnType<typeof recordingReader>;
export type OpenRecording = ReturnType<RecordingReader['open']>;

/** Retry time, ms, plus jitter of up to the same length. */
const comebackMs = 30_000;
/** The same for videos. It is longer because each retry asks the site again. */
const videoComebackMs = 600_000;

export function recordingReader(dependencies: RecordingReaderDependencies) {
  const { transcription, folder, maxBytes, timeoutMs, reads, random } = dependencies;
  let isBusy = false;

  const refuseBusy = (leastMs: number) => {
    if (!isBusy) return;
    const retryAfterMs = leastMs * (1 + random());
    throw new FetchError('host_waits', 'another recording is being read', { retryAfterMs });
  };

  /** Errors: FetchError if the page is a recording that cannot be transcribed, or not now. */
  const refuse = ({ metadata }: Page): void => {
    const isEpisode = metadata?.watch_kind === 'podcast';
    if (!(isEpisode ? reads.podcasts : reads.audio)) {
      const setting = isEpisode ? 'fetch.podcast_transcripts' : 'fetch.audio_transcripts';
      throw new FetchError('unsupported_content', `recordings are not read: ${setting} is off`);
    }
    const { kind, detail } = transcription.found;
    if (kind === null) throw new FetchError('unsupported_content', `recordings cannot be read: ${detail}`);
    refuseBusy(comebackMs);
  };

  /** A recording being read; the caller closes it. */
  const open = () => {
    isBusy = true;
    let file: Promise<RecordingFile> | null = null;
    const opened = () => {
      file ??= folder.create();
      return file;
    };
    const sink: BodySink = { maxBytes, timeoutMs, write: async (bytes) => (await opened()).write(bytes) };
    return {
      sink,
      /** Its path, for another program that writes the file within the limits of `sink`. */
      path: async (): Promise<string> => (await opened()).path,
      /** Transcribes the complete file. Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason. */
      async read(
        chapters: readonly Chapter[],
        { signal, extendTime }: Pick<JobContext, 'signal' | 'extendTime'>,
      ): Promise<TranscriptText> {
        const { path, dir, finish } = await opened();
        await finish();
        await extendTime();
        const cues = await transcription.transcribe({ path, dir, extendTime }, signal);
        if (cues.length === 0) throw new FetchError('no_text', 'no speech was recognized in the recording');
        return transcriptText(cues, chapters);
      },
      /** Deletes the file and admits the next recording. */
      async close(): Promise<void> {
        try {
          // If the file could not be created, the writer reports the error.
          await (await file?.catch(() => null))?.remove();
        } finally {
          isBusy = false;
        }
      },
    };
  };

  return {
    refuse,
    open(page: Page) {
      refuse(page);
      return open();
    },
    readsVideos: reads.videos && transcription.found.kind !== null,
    /** Errors: FetchError while another recording is being read. */
    openVideo() {
      refuseBusy(videoComebackMs);
      return open();
    },
  };
}
