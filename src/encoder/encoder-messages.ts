/** Messages between the host and the encoder's process. */
import type { NameSpans } from '../compute/text/name-tags.ts';

/** `sentence`: a short passage that a person waits for; one window, without names. */
export type InputKind = 'query' | 'sentence' | 'passage';

export type ToEncoder =
  | { do: 'encode'; call: number; kind: InputKind; texts: readonly string[] }
  /** The caller has left. */
  | { do: 'cancel'; call: number };

export type Runtime = 'native' | 'webassembly';

export type FromEncoder =
  /** The model is loaded and gives the vector that it should. */
  | { is: 'ready'; runtime: Runtime; reason: string | null }
  | { is: 'unusable'; reason: string }
  | { is: 'at'; call: number }
  /** The vector of the text at this place, or why there is none, and the names in a passage. In the order of the texts. */
  | { is: 'row'; call: number; at: number; row: Float32Array | null; names: NameSpans; reason: string | null };
