/** The part of WebAssembly used here; the compiler's own declaration requires the DOM's. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: true });
    /** After `grow`: a longer buffer over the same bytes. Earlier ones stay valid. */
    readonly buffer: SharedArrayBuffer;
    /** Adds pages of 64 KiB; RangeError without memory. */
    grow(pages: number): number;
  }
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  function validate(bytes: Uint8Array<ArrayBuffer>): boolean;
}
