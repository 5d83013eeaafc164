/** Thread tasks: what yt-dlp says of a video, and its captions as a text with sections. Both are read from bytes that a site may have written. */
import { decodeText } from '../compute/text/decode-text.ts';
import { readTranscript } from '../compute/transcript/read-transcript.ts';
import { type Chapter, type TranscriptText, transcriptText } from '../compute/transcript/transcript-text.ts';
import { readVideoInfo, type VideoInfo, type VideoList } from '../compute/video/video-info.ts';
import { beginTask, type Limited } from './thread-pool.ts';

export function readInfo(info: { bytes: Uint8Array } & Limited): VideoInfo | VideoList | null {
  beginTask(info);
  const { bytes } = info;
  return readVideoInfo(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}

export interface CaptionsFile {
  bytes: Uint8Array;
  /** As the header names it. */
  charset: string | null;
  chapters: readonly Chapter[];
}

/** Errors: none; what is no captions file gives no text. */
export function readCaptions(file: CaptionsFile & Limited): TranscriptText {
  beginTask(file);
  const { bytes, charset, chapters } = file;
  // Only captions are read as such: a site that answers with a page in their place has none.
  const cues = readTranscript(decodeText(bytes, charset, false).text, 'captions');
  const timed = cues.filter(({ startS }) => startS !== null);
  return transcriptText(timed, chapters);
}
