/**
 * Reads pages that are sound recordings: what is fetched goes to a temporary file, and what is said in it becomes the text, with
 * sections that begin at a second of it. One recording at a time is loaded and transcribed: that takes minutes and the whole processor.
 * Whoever comes meanwhile is sent away, uncounted, so that the pages behind are fetched.
 */
import { type Chapter, type TranscriptText, transcriptText } from '../../compute/transcript/transcript-text.ts';
import type { Page } from '../../domain/page.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { RecordingFile, RecordingFolder } from '../../providers/recording-folder.ts';
import type { Transcription } from '../../providers/transcription.ts';
import type { BodySink } from '../../providers/web-fetch.ts';
import type { JobContext } from '../jobs/job-actor.ts';

export interface RecordingReaderDependencies {
  transcription: Transcription;
  folder: RecordingFolder;
  /** `fetch.audio_max_bytes`. */
  maxBytes: number;
  /** `fetch.audio_timeout_s`: of fetching. */
  timeoutMs: number;
  /** `fetch.audio_transcripts`, `fetch.podcast_transcripts`, `fetch.video_transcribe_fallback`. */
  reads: { audio: boolean; podcasts: boolean; videos: boolean };
  random: () => number;
}

/** A recording that is on its way. Whoever has one closes it. */
export interface OpenRecording {
  sink: BodySink;
  /** Of its file, for who has another program write it, within the bounds of `sink`. */
  path(): Promise<string>;
  /** When all of it has come. Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason. */
  read(chapters: readonly Chapter[], context: Pick<JobContext, 'signal' | 'goOn'>): Promise<TranscriptText>;
  /** Removes the file and lets the next one in. */
  close(): Promise<void>;
}

export interface RecordingReader {
  /** Errors: FetchError where the recording that a page is cannot be read, or not now. */
  refuse(page: Page): void;
  /** Errors: as of `refuse`. */
  open(page: Page): OpenRecording;
  /** Whether videos are transcribed here. */
  readsVideos: boolean;
  /** The sound of a video. Errors: FetchError where another recording is being read. */
  openVideo(): OpenRecording;
}

/** When to come back, ms: between one and two of them, so that those who wait do not come at once. */
const comebackMs = 30_000;
/** The same for videos: whoever comes back asks the site about the video once more. */
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
          // Where it could not be made there is nothing to remove, and whoever wrote has the error.
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
