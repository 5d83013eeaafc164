/**
 * Recognizes speech by a program that the settings name, such as whisper.cpp's `whisper-cli`. It is given the path of a sound file and
 * leaves a transcript: in a file of its own beside it, or on its standard output.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Cue } from '../compute/transcript/cue.ts';
import { readTranscript, transcriptFormat } from '../compute/transcript/read-transcript.ts';
import { type Recognizer, recognizerFailed } from './recognizer.ts';
import { ProgramError, runProgram } from './run-program.ts';

export interface CommandRecognizer {
  /** Absolute. */
  program: string;
  /** What follows its name, with the places `{audio}`, `{output}` and `{model}`. */
  args: readonly string[];
  /** What stands for `{model}`. */
  model: string;
  env: Readonly<Record<string, string>>;
}

/** Of a transcript. */
const maxTranscriptBytes = 16 * 1024 * 1024;
/** Endings of transcripts, those that say most first. */
const endings = ['.json', '.vtt', '.srt', '.txt'];

export function commandRecognizer({ program, args, model, env }: CommandRecognizer): Recognizer {
  return {
    async recognize({ path, dir }, signal) {
      const output = join(dir, 'transcript');
      const filled = args.map((word) =>
        word.replaceAll('{audio}', path).replaceAll('{output}', output).replaceAll('{model}', model),
      );
      const given = args.some((word) => word.includes('{audio}')) ? filled : [...filled, path];
      const before = new Set(await readdir(dir));
      try {
        const run = { program, args: given, env, cwd: dir, maxOutputBytes: maxTranscriptBytes, signal };
        const { output: said, ended } = await runProgram(run);
        if (ended !== 0) throw recognizerFailed(`the transcription command ended with ${ended}`);
        const written = (await readdir(dir)).filter((name) => !before.has(name));
        return (await cuesIn(dir, written)) ?? readTranscript(Buffer.from(said).toString(), null);
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        throw recognizerFailed(`the transcription command ${error.message}`, { cause: error });
      } finally {
        const after = (await readdir(dir)).filter((name) => !before.has(name));
        await Promise.all(after.map((name) => rm(join(dir, name), { recursive: true, force: true })));
      }
    },
  };
}

/** The cues of the best transcript among the files that a run has left; null where it left none. */
async function cuesIn(dir: string, names: readonly string[]): Promise<Cue[] | null> {
  const ranked = names
    .filter((name) => endings.includes(extname(name)))
    .sort((a, b) => endings.indexOf(extname(a)) - endings.indexOf(extname(b)));
  for (const name of ranked) {
    const path = join(dir, name);
    const { size } = await stat(path);
    if (size > maxTranscriptBytes) throw recognizerFailed(`the transcription command wrote ${size} bytes`);
    return readTranscript(await readFile(path, 'utf8'), transcriptFormat('', name));
  }
  return null;
}
