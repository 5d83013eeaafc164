/**
 * Reads the files that come of videos, on a thread of its own: what yt-dlp writes of a video or a list, and captions. Others say what
 * they are wanted for (read-video.ts).
 */
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import type { VideoInfo, VideoList } from '../../compute/video/video-info.ts';
import { JobError } from '../../domain/errors.ts';
import { programFile } from '../../files/program-files.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { openThreadPool, QueueFullError, TaskTimeoutError } from '../../threads/thread-pool.ts';
import type { CaptionsFile } from '../../threads/video-thread.ts';
import { ranOutOfMemory } from '../system/thread-faults.ts';

export interface VideoParser {
  /** Errors: FetchError `program_failed` where the bytes describe none; as of `readCaptions`. */
  readInfo(bytes: Uint8Array, signal: AbortSignal): Promise<VideoInfo | VideoList>;
  /** Errors: FetchError `unreadable`; JobError where it may be read later; the signal's reason. */
  readCaptions(file: CaptionsFile, signal: AbortSignal): Promise<TranscriptText>;
  close(): Promise<void>;
}

/** Processor time that reading may take, ms: megabytes take a second. */
const processorMs = 60_000;
/** …and the time that may pass meanwhile, the start of the thread included: on a machine that is busy, or does not count. */
const timeoutMs = 5 * processorMs;
const maxHeapMb = 512;
const maxQueue = 64;

export function openVideoParser(limits = { processorMs, timeoutMs }): VideoParser {
  const pool = openThreadPool<typeof import('../../threads/video-thread.ts')>({
    entry: programFile('threads/video-thread'),
    name: 'videos',
    threads: 1,
    lazy: true,
    maxQueue,
    maxHeapMb,
    nice: 10,
  });
  return {
    async readInfo(bytes, signal) {
      const info = await pool.run('readInfo', { bytes }, { ...limits, signal }).catch(asFailure);
      if (info === null) throw new FetchError('program_failed', 'yt-dlp wrote what is no description of a video');
      return info;
    },
    async readCaptions(file, signal) {
      const read = await pool.run('readCaptions', file, { ...limits, signal }).catch(asFailure);
      if (read.text === '') throw new FetchError('unreadable', 'the captions of the video cannot be read');
      return read;
    },
    close: () => pool.close(),
  };
}

function asFailure(error: unknown): never {
  if (error instanceof QueueFullError) {
    throw new JobError('too many captions are waiting to be read', { retryAfterMs: 1000, cause: error });
  }
  if (error instanceof TaskTimeoutError) {
    const message = `the captions took longer than ${error.limitMs / 1000} s to read`;
    // Where it is time that passed, the machine was busy.
    throw error.ofProcessor
      ? new FetchError('unreadable', message, { cause: error })
      : new JobError(message, { cause: error });
  }
  if (ranOutOfMemory(error)) {
    throw new FetchError('unreadable', 'the captions take too much memory to read', { cause: error });
  }
  throw error;
}
