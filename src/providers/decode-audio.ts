/**
 * Decodes pieces of a recording by ffmpeg. The file is untrusted: ffmpeg gets no protocol but the file, no format that refers to other
 * files, one thread, and limits of time and output.
 */
import { bytesPerSecond, sampleRate } from '../compute/transcript/wave.ts';
import { FetchError } from './fetch-error.ts';
import { ProgramError, runProgram } from './run-program.ts';

/** Formats of single recordings, by ffmpeg's names; no playlists. */
const formats = 'mp3,aac,mov,mp4,m4a,ogg,flac,wav,matroska,webm,aiff,amr,asf,caf,au';
/** Per memory block; ffmpeg's own limit is 2 GB. */
const maxBlockBytes = 256 * 1024 * 1024;
/** ms per piece. Usually seconds; skipping hours of a damaged file takes longest. */
const timeoutMs = 180_000;

export interface Stretch {
  fromS: number;
  lengthS: number;
}

export interface Decoder {
  program: string;
  env: Readonly<Record<string, string>>;
}

/**
 * The samples of a piece (src/compute/transcript/wave.ts); fewer at the recording's end, none after it.
 * Errors: FetchError `unreadable`; the signal's reason.
 */
export async function decodeAudio(
  { program, env }: Decoder,
  { path, dir }: { path: string; dir: string },
  { fromS, lengthS }: Stretch,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const late = AbortSignal.timeout(timeoutMs);
  const run = runProgram({
    program,
    args: [
      ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-threads', '1', '-max_alloc', String(maxBlockBytes)],
      ...['-protocol_whitelist', 'file', '-format_whitelist', formats],
      ...['-ss', String(fromS), '-t', String(lengthS), '-i', `file:${path}`],
      ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', String(sampleRate)],
      ...['-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
    ],
    env,
    cwd: dir,
    maxOutputBytes: Math.ceil((lengthS + 1) * bytesPerSecond),
    signal: AbortSignal.any([signal, late]),
  });
  try {
    const { output, ended } = await run;
    // After the end of a damaged file there is only an error message.
    if (ended !== 0 && output.length === 0 && fromS === 0)
      throw unreadable('is broken, or in no format that can be read');
    return output;
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw unreadable(`took longer than ${timeoutMs / 1000} s to decode`, error);
    if (error instanceof ProgramError) throw unreadable(`could not be decoded: ffmpeg ${error.message}`, error);
    throw error;
  }
}

function unreadable(reason: string, cause?: unknown): FetchError {
  return new FetchError('unreadable', `the recording ${reason}`, { cause });
}
