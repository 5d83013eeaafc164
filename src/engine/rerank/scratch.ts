/**
 * Arrays for intermediate results, kept from call to call. The reranker fills some MB for each query; made anew each time they
 * would be most of what a searcher thread allocates, and a fifth of its time would go into collecting them (bench/results/2026-11-reranking-cost.md).
 */
export class Scratch {
  readonly #buffers = new Map<string, ArrayBuffer>();

  /** An array of that name with whatever was left in it. Valid until the name is asked for again. */
  uint32(name: string, length: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.#bytes(name, 4 * length), 0, length);
  }

  float32(name: string, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#bytes(name, 4 * length), 0, length);
  }

  float64(name: string, length: number): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#bytes(name, 8 * length), 0, length);
  }

  #bytes(name: string, length: number): ArrayBuffer {
    let buffer = this.#buffers.get(name);
    if (buffer === undefined || buffer.byteLength < length) {
      // Whole elements of every kind.
      buffer = new ArrayBuffer(8 * Math.ceil((length * 1.5) / 8));
      this.#buffers.set(name, buffer);
    }
    return buffer;
  }
}
