/** Who writes down what is said in a sound file: the interface that the ways of doing so share. */
import type { Cue } from '../compute/transcript/cue.ts';
import { FetchError } from './fetch-error.ts';

export interface Sound {
  /** A WAVE file (src/compute/transcript/wave.ts), or, where nothing is there to decode it, the recording as it came. */
  path: string;
  /** A folder of its own, for what is written meanwhile. */
  dir: string;
  /** Of the whole recording: where this piece begins in it, and how long the piece is; null where that is not known. */
  lengthS: number | null;
}

export interface Recognizer {
  /**
   * What is said, with times from the beginning of the sound; none where nobody speaks.
   * Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason.
   */
  recognize(sound: Sound, signal: AbortSignal): Promise<Cue[]>;
}

/** A recognizer failed in a way that says nothing about the recording. */
export function recognizerFailed(message: string, options: { permanent?: boolean; cause?: unknown } = {}): FetchError {
  return new FetchError('program_failed', message, options);
}
