/** Messages between the host and the encoder's process. */
import type { NameSpans } from '../compute/text/name-tags.ts';

/** `sentence`: a short passage for which a user waits; one window, without names. */
export type InputKind = 'query' | 'sentence' | 'passage';

export type ToEncoder =
  | { do: 'encode'; call: number; kind: InputKind; texts: readonly string[] }
  /** The caller no longer waits. */
  | { do: 'cancel'; call: number };

export type Runtime = 'native' | 'webassembly';

export type FromEncoder =
  /** The model is loaded and gives the expected vector. */
  | { is: 'ready'; runtime: Runtime; reason: string | null }
  | { is: 'unusable'; reason: string }
  | { is: 'at'; call: number }
  /** The vector of a text, or the reason why it has none, and names of a passage. In the order of the texts. */
  | { is: 'row'; call: number; at: number; row: Float32Array | null; names: NameSpans; reason: string | null };
