/** Tasks that read feeds, descriptions of videos by yt-dlp, and captions, with time and heap limits. The bytes are untrusted. */
import type { Episode } from '../compute/feed/episode.ts';
import type { FeedReading } from '../compute/feed/feed.ts';
import { type FeedBytes, readFeed, readPodcast } from '../compute/feed/read-feed.ts';
import { decodeText } from '../compute/text/decode-text.ts';
import { readTranscript } from '../compute/transcript/read-transcript.ts';
import { type Chapter, type TranscriptText, transcriptText } from '../compute/transcript/transcript-text.ts';
import { readVideoInfo, type VideoInfo, type VideoList } from '../compute/transcript/video-info.ts';
import { beginTask, type Limited } from './thread-pool.ts';

export function readItems(feed: FeedBytes & Limited): FeedReading {
  beginTask(feed);
  return readFeed(feed);
}

export function readEpisodes(feed: FeedBytes & Limited): FeedReading<Episode> {
  beginTask(feed);
  return readPodcast(feed);
}

export function readInfo(info: { bytes: Uint8Array } & Limited): VideoInfo | VideoList | null {
  beginTask(info);
  const { bytes } = info;
  return readVideoInfo(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}

export interface CaptionsFile {
  bytes: Uint8Array;
  charset: string | null;
  chapters: readonly Chapter[];
}

/** Errors: none; other files give no text. */
export function readCaptions(file: CaptionsFile & Limited): TranscriptText {
  beginTask(file);
  const { bytes, charset, chapters } = file;
  // Only captions: a site may answer with a web page instead.
  const cues = readTranscript(decodeText(bytes, charset, false).text, 'captions');
  const timed = cues.filter(({ startS }) => startS !== null);
  return transcriptText(timed, chapters);
}
