/** Audio samples for speech recognizers: signed 16 bits, little-endian, mono, 16 kHz. */

export const sampleRate = 16_000;
export const bytesPerSecond = 2 * sampleRate;

/** A cut is searched in the last seconds, … */
const searchS = 20;
/** … between two frames of this length. */
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

/**
 * The best cut near the end: the middle of the quietest tenth of a second in the last 20. Returns bytes of whole samples; the full
 * length if too short. 2 ms.
 */
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
