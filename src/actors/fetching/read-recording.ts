/**
 * Reads recordings: the file is downloaded to a temporary folder and transcribed into text with timed sections. One at a time, as it
 * takes minutes and the whole processor; others are postponed, uncounted, so that later pages are fetched.
 */
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

/** A recording being read; the caller closes it. */
export interface OpenRecording {
  sink: BodySink;
  /** Its file, for another program that writes it within the limits of `sink`. */
  path(): Promise<string>;
  /** Transcribes the complete file. Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason. */
  read(chapters: readonly Chapter[], context: Pick<JobContext, 'signal' | 'goOn'>): Promise<TranscriptText>;
  /** Deletes the file and admits the next recording. */
  close(): Promise<void>;
}

export interface RecordingReader {
  /** Errors: FetchError if the page is a recording that cannot be read, or not now. */
  refuse(page: Page): void;
  /** Errors: as of `refuse`. */
  open(page: Page): OpenRecording;
  readsVideos: boolean;
  /** Errors: FetchError while another recording is being read. */
  openVideo(): OpenRecording;
}

/** Retry time, ms, plus up to as much jitter. */
const comebackMs = 30_000;
/** The same for videos: each retry asks the site again. */
const videoComebackMs = 600_000;

export function recordingReader(dependencies: RecordingReaderDependencies): RecordingReader {
  const { transcription, folder, maxBytes, timeoutMs, reads, random } = dependencies;
  let isBusy = false;

  const refuseBusy = (leastMs: number) => {
    if (!isBusy) return;
    const retryAfterMs = leastMs * (1 + random());
    throw new FetchError('host_waits', 'another recording is being read', { retryAfterMs });
  };

  const refuse = ({ metadata }: Page) => {
    const isEpisode = metadata?.watch_kind === 'podcast';
    if (!(isEpisode ? reads.podcasts : reads.audio)) {
      const setting = isEpisode ? 'fetch.podcast_transcripts' : 'fetch.audio_transcripts';
      throw new FetchError('unsupported_content', `recordings are not read: ${setting} is off`);
    }
    const { kind, detail } = transcription.found;
    if (kind === null) throw new FetchError('unsupported_content', `recordings cannot be read: ${detail}`);
    refuseBusy(comebackMs);
  };

  const open = (): OpenRecording => {
    isBusy = true;
    let file: Promise<RecordingFile> | null = null;
    const opened = () => {
      file ??= folder.create();
      return file;
    };
    return {
      sink: { maxBytes, timeoutMs, write: async (bytes) => (await opened()).write(bytes) },
      path: async () => (await opened()).path,
      async read(chapters, { signal, goOn }) {
        const { path, dir, finish } = await opened();
        await finish();
        await goOn();
        const cues = await transcription.transcribe({ path, dir, goOn }, signal);
        if (cues.length === 0) throw new FetchError('no_text', 'no speech was recognized in the recording');
        return transcriptText(cues, chapters);
      },
      async close() {
        try {
          // If the file could not be created, the writer has the error.
          await (await file?.catch(() => null))?.remove();
        } finally {
          isBusy = false;
        }
      },
    };
  };

  return {
    refuse,
    open(page) {
      refuse(page);
      return open();
    },
    readsVideos: reads.videos && transcription.found.kind !== null,
    openVideo() {
      refuseBusy(videoComebackMs);
      return open();
    },
  };
}
