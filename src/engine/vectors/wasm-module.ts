/**
 * Writes small WebAssembly modules: the kernels' instructions by their names in the specification ("Binary format"), and a module of one
 * function over an imported shared memory. No build step, no binary file.
 */
/** Pages of 64 KiB in the largest memory, 4 GiB. */
export const MAX_PAGES = 65_536;

export const I32 = 0x7f;
export const V128 = 0x7b;
const VOID = 0x40;

export const block = [0x02, VOID];
export const loop = [0x03, VOID];
export const end = [0x0b];
export const branch = (depth: number) => [0x0c, depth];
export const branchIf = (depth: number) => [0x0d, depth];
export const drop = [0x1a];
export const get = (local: number) => [0x20, ...unsigned(local)];
export const set = (local: number) => [0x21, ...unsigned(local)];
export const tee = (local: number) => [0x22, ...unsigned(local)];

export const constant = (value: number) => [0x41, ...signed(value)];
export const below = [0x49];
export const add = [0x6a];
export const subtract = [0x6b];
export const shiftLeft = [0x74];
export const load32At = (offset: number) => [0x28, 2, ...unsigned(offset)];
export const load32 = load32At(0);
export const store32At = (offset: number) => [0x36, 2, ...unsigned(offset)];

const simd = (opcode: number, ...immediates: number[]) => [0xfd, ...unsigned(opcode), ...immediates];
export const loadVector = (offset: number) => simd(0, 0, ...unsigned(offset));
/** 8 bytes to 16 bits each, sign-extended. */
export const loadWidened = (offset: number) => simd(1, 0, ...unsigned(offset));
export const zeroVector = simd(12, ...new Array<number>(16).fill(0));
export const lane = (index: number) => simd(27, index);
/** 4 sums of 32 bits. */
export const addLanes = simd(174);
/** Products of 8 pairs of 16 bits, added two by two: 4 sums of 32 bits. */
export const multiplyAddPairs = simd(186);

/**
 * A module that imports the shared env.memory and exports `run`, a function of `parameters` i32 arguments without result, with further locals
 * (numbered after the arguments) and a body.
 */
export function assembleModule(parameters: number, locals: number[], body: number[]): Uint8Array<ArrayBuffer> {
  const declared = list(locals.map((type) => [1, type]));
  const code = [...declared, ...body, ...end];
  const type = [0x60, ...list(Array.from({ length: parameters }, () => [I32])), 0];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // magic, version
    ...section(1, list([type])),
    ...section(2, list([[...name('env'), ...name('memory'), 2, 3, 1, ...unsigned(MAX_PAGES)]])), // a shared memory of at least 1 page
    ...section(3, list([[0]])), // function 0 is of type 0
    ...section(7, list([[...name('run'), 0, 0]])), // export function 0
    ...section(10, list([[...unsigned(code.length), ...code]])),
  ]);
}

/** The module's function over a memory; undefined if the engine lacks an instruction. */
export function instantiate(bytes: Uint8Array<ArrayBuffer>, memory: WebAssembly.Memory): unknown {
  if (!WebAssembly.validate(bytes)) return undefined;
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } }).exports.run;
}

function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function list(items: number[][]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function name(text: string): number[] {
  return [...unsigned(text.length), ...new TextEncoder().encode(text)];
}

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const byte = value & 0x7f;
  const rest = value >> 7;
  const last = (rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0);
  return last ? [byte] : [byte | 0x80, ...signed(rest)];
}
