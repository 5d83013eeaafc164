/** Recognizes speech by pocketsphinx: small, offline, English, and far less exact than models of today (docs/podcasts.md). */
import type { Cue } from '../compute/transcript/cue.ts';
import { type Recognizer, recognizerFailed } from './recognizer.ts';
import { ProgramError, runProgram } from './run-program.ts';

/** Of its output, for five minutes of speech: 40 bytes a word. */
const maxOutputBytes = 4 * 1024 * 1024;
/** Longest pause inside a cue, and longest cue, in seconds. */
const pauseS = 1;
const cueS = 15;
/** `word 1.940 2.020 0.998800`; other ways to say a word have a number: `read(2)`. */
const timedWord = /^(\S{1,200}?)(?:\(\d{1,3}\))? (\d{1,7}\.\d{1,9}) (\d{1,7}\.\d{1,9}) -?[\d.e+-]{1,30}$/;

export interface PocketSphinx {
  /** `pocketsphinx_continuous`, absolute. */
  program: string;
  env: Readonly<Record<string, string>>;
}

export function pocketSphinx({ program, env }: PocketSphinx): Recognizer {
  return {
    async recognize({ path, dir }, signal) {
      const args = ['-infile', path, '-time', 'yes', '-logfn', '/dev/null'];
      try {
        const { output, ended } = await runProgram({ program, args, env, cwd: dir, maxOutputBytes, signal });
        if (ended !== 0) throw recognizerFailed(`pocketsphinx ended with ${ended}`);
        return cuesOf(Buffer.from(output).toString());
      } catch (error) {
        if (error instanceof ProgramError) throw recognizerFailed(`pocketsphinx ${error.message}`, { cause: error });
        throw error;
      }
    },
  };
}

/** Words in a row become cues. Marks of silence and noise are no words. */
function cuesOf(output: string): Cue[] {
  const cues: { startS: number; endS: number; words: string[] }[] = [];
  for (const line of output.split('\n')) {
    const [, word, from, to] = timedWord.exec(line.trim()) ?? [];
    if (word === undefined || /^[<[+]/.test(word)) continue;
    const [startS, endS] = [Number(from), Number(to)];
    const last = cues.at(-1);
    if (last !== undefined && startS - last.endS <= pauseS && endS - last.startS <= cueS) {
      last.words.push(word);
      last.endS = endS;
    } else cues.push({ startS, endS, words: [word] });
  }
  return cues.map(({ startS, endS, words }) => ({ startS, endS, speaker: null, text: words.join(' ') }));
}
