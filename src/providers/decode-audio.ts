/** Decodes parts of an untrusted recording by ffmpeg, limited to that file, one thread, and formats without links. */
import { FetchError } from './fetch-error.ts';
import { ProgramError, runProgram } from './run-program.ts';

/** Formats of single recordings, by ffmpeg's names; no playlists. */
const formats = 'mp3,aac,mov,mp4,m4a,ogg,flac,wav,matroska,webm,aiff,amr,asf,caf,au';
/** Max bytes per memory block; ffmpeg's own limit is 2 GB. */
const maxBlockBytes = 256 * 1024 * 1024;
/** Time limit per piece, ms. It usually takes seconds; skipping hours of a damaged file takes longest. */
const timeoutMs = 180_000;

export interface Decoder {
  program: string;
  env: Readonly<Record<string, string>>;
}

/** Returns fewer samples at the end, none after it. Errors: FetchError `unreadable`; the signal's reason. */
export async function decodeAudio(
  { program, env }: Decoder,
  { path, dir }: { path: string; dir: string },
  { fromS, lengthS }: { fromS: number; lengthS: number },
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
    // After the end of a damaged file, ffmpeg only reports an error.
    if (ended !== 0 && output.length === 0 && fromS === 0) throw unreadable('is damaged or has an unsupported format');
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

/** Format of samples for speech recognizers: signed 16 bits, little-endian, mono. */
const sampleRate = 16_000;
export const bytesPerSecond = 2 * sampleRate;

/** A cut is searched in the last seconds, between two frames of the given length. */
const searchS = 20;
const frameS = 0.1;

export function waveFile(samples: Uint8Array): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(bytesPerSecond, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** The middle of the quietest 0.1 s in the last 20 s, in bytes of whole samples; the end if too short. 2 ms. */
export function quietestCut(samples: Uint8Array): number {
  const frame = frameS * bytesPerSecond;
  const length = samples.length - (samples.length % 2);
  const view = new DataView(samples.buffer, samples.byteOffset, length);
  let best = { at: length, loudness: Number.POSITIVE_INFINITY };
  for (let at = Math.max(0, length - searchS * bytesPerSecond); at + frame <= length; at += frame) {
    let loudness = 0;
    for (let i = at; i < at + frame; i += 2) loudness += Math.abs(view.getInt16(i, true));
    if (loudness <= best.loudness) best = { at: at + frame / 2, loudness };
  }
  return best.at;
}
