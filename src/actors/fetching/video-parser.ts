/**
 * Reads the files that come of videos, on a thread of its own: what yt-dlp writes of a video or a list, and captions. Others say what
 * they are wanted for (read-video.ts).
 */
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import type { VideoInfo, VideoList } from '../../compute/video/video-info.ts';
import { programFile } from '../../files/program-files.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { CaptionsFile } from '../../threads/video-thread.ts';
import { openParserPool, type ParserLimits } from './parser-pool.ts';

export interface VideoParser {
  /** Errors: FetchError `program_failed` where the bytes describe none; as of `readCaptions`. */
  readInfo(bytes: Uint8Array, signal: AbortSignal): Promise<VideoInfo | VideoList>;
  /** Errors: FetchError `unreadable`, also where there is no text; those of ParserPool. */
  readCaptions(file: CaptionsFile, signal: AbortSignal): Promise<TranscriptText>;
  close(): Promise<void>;
}

/** Megabytes take a second. */
const defaultLimits: ParserLimits = { processorMs: 60_000, timeoutMs: 300_000 };

export function openVideoParser(limits = defaultLimits): VideoParser {
  const pool = openParserPool<typeof import('../../threads/video-thread.ts')>({
    entry: programFile('threads/video-thread'),
    name: 'videos',
    maxQueue: 64,
    maxHeapMb: 512,
    limits,
    retriesLate: true,
    retryAfterMs: 1000,
    sentences: {
      tooMany: 'too many captions are waiting to be read',
      tooLong: 'the captions took longer than',
      tooLarge: 'the captions take too much memory to read',
    },
  });
  return {
    async readInfo(bytes, signal) {
      const info = await pool.run('readInfo', { bytes }, { signal });
      if (info === null) throw new FetchError('program_failed', 'yt-dlp wrote what is no description of a video');
      return info;
    },
    async readCaptions(file, signal) {
      const read = await pool.run('readCaptions', file, { signal });
      if (read.text === '') throw new FetchError('unreadable', 'the captions of the video cannot be read');
      return read;
    },
    close: () => pool.close(),
  };
}
