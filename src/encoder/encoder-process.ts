/**
 * The encoder's process. It reads messages between two windows, so a query waits for one window at most. Arguments: the
 * folder of the model; `native`, or `webassembly`, which never tries the native runtime; `low` or `equal` priority.
 */
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { MAX_WINDOWS, meanOfWindows, windowsOf, withoutShouting } from '../compute/embedding/encoder-windows.ts';
import { openTokenizer, type TextPieces, type UnigramTokenizer } from '../compute/embedding/unigram-tokenizer.ts';
import { type NameSpans, type NameTagger, openNameTagger } from '../compute/text/name-tags.ts';
import { errorMessage } from '../domain/errors.ts';
import { type EncoderManifest, readManifest } from './encoder-files.ts';
import type { FromEncoder, InputKind, ToEncoder } from './encoder-messages.ts';
import { type OnnxSession, openOnnxSession } from './onnx-session.ts';

const prefixes: Record<InputKind, string> = { query: 'query:', sentence: 'passage:', passage: 'passage:' };
/** Order of work: queries first. Within a kind, first come, first served. */
const order: readonly InputKind[] = ['query', 'sentence', 'passage'];
/** Min cosine with the known vector. The native runtime and WebAssembly agree to .999; a faulty kernel is far below. */
const leastAlike = 0.98;

interface Call {
  call: number;
  kind: InputKind;
  texts: readonly string[];
  at: number;
  /** Pieces of the text at `at`; `windows`: those not encoded yet. */
  pieces: TextPieces;
  windows: number[][];
  vectors: Float32Array[];
  evidence: Float32Array[];
}

class Encoding {
  readonly #session: OnnxSession;
  readonly #tokenizer: UnigramTokenizer;
  readonly #tagger: NameTagger;
  readonly #prefixes: Record<InputKind, number[]>;
  readonly #calls = new Map<number, Call>();
  readonly #manifest: EncoderManifest;
  #isRunning = false;
  #at = 0;

  constructor(session: OnnxSession, tokenizer: UnigramTokenizer, tagger: NameTagger, manifest: EncoderManifest) {
    this.#session = session;
    this.#manifest = manifest;
    this.#tokenizer = tokenizer;
    this.#tagger = tagger;
    const [query, passage] = [prefixes.query, prefixes.passage].map((prefix) => tokenizer.encode(prefix).ids);
    this.#prefixes = { query, sentence: passage, passage };
  }

  take(message: ToEncoder): void {
    if (message.do === 'cancel') this.#calls.delete(message.call);
    else {
      const { call, kind, texts } = message;
      const pieces = { ids: [], starts: [], ends: [] };
      this.#calls.set(call, { call, kind, texts, at: 0, pieces, windows: [], vectors: [], evidence: [] });
    }
    if (!this.#isRunning) void this.#run();
  }

  #begin(text: string, kind: InputKind): Pick<Call, 'pieces' | 'windows' | 'vectors' | 'evidence'> {
    const pieces = this.#tokenizer.encode(withoutShouting(text));
    const windows = windowsOf(pieces.ids, this.#prefixes[kind], MAX_WINDOWS[kind]);
    return { pieces, windows, vectors: [], evidence: [] };
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      await this.#step(next);
      await turn(); // reads messages that arrived meanwhile
    }
    this.#isRunning = false;
  }

  #next(): Call | undefined {
    const calls = [...this.#calls.values()];
    return order.flatMap((kind) => calls.find((call) => call.kind === kind) ?? [])[0];
  }

  #sayAt(call: Call | undefined): void {
    if (call === undefined || call.call === this.#at) return;
    this.#at = call.call;
    say({ is: 'at', call: call.call });
  }

  /** Encodes one window. A text that fails does not affect the others. Errors: if the runtime has become faulty. */
  async #step(call: Call): Promise<void> {
    this.#sayAt(call);
    const { call: of, at, texts, kind } = call;
    let row: Float32Array | null = null;
    let names: NameSpans = [];
    let reason: string | null = null;
    try {
      if (call.windows.length === 0) Object.assign(call, this.#begin(texts[at], kind));
      const [window] = call.windows.splice(0, 1);
      const { vector, states } = await this.#session.run(window);
      call.vectors.push(vector);
      if (kind === 'passage') {
        const before = 1 + this.#prefixes[kind].length;
        call.evidence.push(this.#tagger.evidenceOf(states, before, window.length - before - 1));
      }
      if (call.windows.length > 0) return;
      row = meanOfWindows(call.vectors);
      names = this.#tagger.namesIn(texts[at], call.pieces, call.evidence);
    } catch (error) {
      reason = errorMessage(error).split('\n')[0];
      await this.prove();
    }
    const isWanted = this.#calls.has(of);
    call.at = at + 1;
    call.windows = [];
    if (call.at === texts.length) this.#calls.delete(of);
    // Sent before the answer, so that a crash from here on is attributed to the next call.
    this.#sayAt(this.#next());
    if (isWanted) say({ is: 'row', call: of, at, row, names, reason });
  }

  /** Errors: if the runtime does not give the known vector. */
  async prove(): Promise<void> {
    const { known } = this.#manifest;
    const [window] = this.#begin(known.text, 'passage').windows;
    const { vector: row } = await this.#session.run(window);
    const alike = row.reduce((sum, each, i) => sum + each * known.vector[i], 0);
    if (!(alike >= leastAlike)) throw new Error(`a known text has another vector (cosine ${alike.toFixed(3)})`);
  }
}

function say(message: FromEncoder): void {
  process.send?.(message);
}

async function open(dir: string, native: boolean): Promise<Encoding> {
  const manifest = readManifest(dir);
  const tokenizer = openTokenizer(new Uint8Array(readFileSync(join(dir, manifest.tokenizer.name))));
  const tagger = openNameTagger(new Uint8Array(readFileSync(join(dir, manifest.names.name))));
  const proven = async (isNative: boolean) => {
    const session = await openOnnxSession(join(dir, manifest.encoder.name), { native: isNative });
    const encoding = new Encoding(session, tokenizer, tagger, manifest);
    await encoding.prove();
    return { encoding, session };
  };
  const opened = await proven(native).catch((error) => {
    // If the native runtime gives wrong numbers, use WebAssembly.
    if (native) return proven(false);
    throw error;
  });
  const { runtime, reason } = opened.session;
  say({ is: 'ready', runtime, reason });
  return opened.encoding;
}

const [dir, runtime, priority] = process.argv.slice(2);
process.on('disconnect', () => process.exit(0));
try {
  if (priority === 'low') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
} catch {} // the system has no priorities
const waiting: ToEncoder[] = [];
let take = (message: ToEncoder): void => void waiting.push(message);
process.on('message', (message: ToEncoder) => take(message));
try {
  const encoding = await open(dir, runtime === 'native');
  take = (message) => encoding.take(message);
  for (const message of waiting) take(message);
} catch (error) {
  say({ is: 'unusable', reason: errorMessage(error).split('\n')[0] });
}
