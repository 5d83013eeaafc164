/** Speech made by espeak-ng, and the programs that it takes to make it and to understand it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findProgram } from '../../src/providers/run-program.ts';

const needed = ['espeak-ng', 'ffmpeg', 'pocketsphinx_continuous'];

/** Which of the programs are not installed, in a sentence; false where all are. */
export function missingSpeechPrograms(): string | false {
  const missing = needed.filter((name) => findProgram(name, process.env.PATH ?? '') === null);
  return missing.length === 0 ? false : `not installed: ${missing.join(', ')}`;
}

/** An MP3 file in `dir` of a text that is spoken. Of the voices that were tried this one is understood best. */
export function speak(text: string, dir: string): string {
  const [wave, mp3] = ['speech.wav', 'speech.mp3'].map((name) => join(dir, name));
  execFileSync('espeak-ng', ['-v', 'en-us+f2', '-s', '160', '-w', wave, text]);
  execFileSync('ffmpeg', ['-nostdin', '-loglevel', 'error', '-y', '-i', wave, '-b:a', '64k', mp3]);
  return mp3;
}

/** Word error rate: insertions, deletions and substitutions for each word that was said. */
export function wordErrorRate(said: string, heard: string): number {
  const [from, to] = [said, heard].map((text) => text.toLowerCase().match(/[a-z']+/g) ?? []);
  let row = to.map((_, i) => i + 1);
  for (const [i, word] of from.entries()) {
    let left = i + 1;
    let diagonal = i;
    row = row.map((above, j) => {
      left = Math.min(left + 1, above + 1, diagonal + (word === to[j] ? 0 : 1));
      diagonal = above;
      return left;
    });
  }
  return (row.at(-1) ?? from.length) / from.length;
}
