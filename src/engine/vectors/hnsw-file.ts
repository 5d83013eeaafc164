/**
 * What an hnswlib file must look like before the library may read it. The library trusts its files: it checks no dimension,
 * reports no failed write, and follows links wherever they point. Here the header, the size and every link are checked.
 *
 *   header   96 bytes (HEADER below)
 *   nodes    count × nodeBytes   u32 number of links | flags << 16, u32 × 2·m links, f32 × dim vector, u64 label
 *   levels   per node: u32 bytes, then so many bytes of upper links (blocks of u32 number, u32 × m links)
 */
const HEADER_BYTES = 96;
const HEADER = { offset: 0, capacity: 8, count: 16, nodeBytes: 24, labelAt: 32, vectorAt: 40 } as const;
const ENTRY_LEVEL_AT = 48;
const ENTRY_AT = 52;
/** A level is drawn with probability m^-level: this one never. */
const MAX_LEVEL = 64;
const LINKS_AT = { upper: 56, base: 64, m: 72 } as const;

/** Why the bytes are no graph of `dim` dimensions whose labels are from `first` on and below `rows`; undefined if they are one. */
export function faultOfHnswFile(bytes: Uint8Array, dim: number, rows: number, first = 0): string | undefined {
  if (bytes.length < HEADER_BYTES) return 'shorter than its header';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const long = (at: number): number => Number(view.getBigUint64(at, true));
  const count = long(HEADER.count);
  const nodeBytes = long(HEADER.nodeBytes);
  const links = long(LINKS_AT.base);
  const upper = long(LINKS_AT.upper);
  if (long(HEADER.offset) !== 0 || links !== 2 * upper || long(LINKS_AT.m) !== upper || upper < 2 || upper > 256) {
    return 'impossible header';
  }
  const vectorAt = 4 + 4 * links;
  if (long(HEADER.vectorAt) !== vectorAt || long(HEADER.labelAt) !== vectorAt + 4 * dim) return 'another dimension';
  if (nodeBytes !== vectorAt + 4 * dim + 8) return 'another dimension';
  if (long(HEADER.capacity) < count || count > rows - first) return 'impossible count';
  if (HEADER_BYTES + count * (nodeBytes + 4) > bytes.length) return 'cut short';
  if (count > 0 && view.getUint32(ENTRY_AT, true) >= count) return 'impossible entry point';

  const levels = new Uint8Array(count);
  const linksAreSound = (at: number, most: number, level: number): boolean => {
    const linked = view.getUint16(at, true);
    if (linked > most) return false;
    for (let i = 1; i <= linked; i++) {
      const to = view.getUint32(at + 4 * i, true);
      if (to >= count || levels[to] < level) return false;
    }
    return true;
  };
  for (let node = 0, at = HEADER_BYTES; node < count; node++, at += nodeBytes) {
    if (!linksAreSound(at, links, 0)) return 'a link out of range';
    const label = long(at + nodeBytes - 8);
    if (label < first || label >= rows) return 'a label out of range';
  }
  const block = 4 + 4 * upper;
  const levelsAt = HEADER_BYTES + count * nodeBytes;
  let at = levelsAt;
  for (let node = 0; node < count; node++) {
    if (at + 4 > bytes.length) return 'cut short';
    const size = view.getUint32(at, true);
    if (size % block !== 0 || size / block > MAX_LEVEL) return 'an impossible level';
    levels[node] = size / block;
    at += 4 + size;
  }
  if (at !== bytes.length) return 'longer than its content';
  at = levelsAt;
  for (let node = 0; node < count; node++) {
    at += 4;
    for (let level = 1; level <= levels[node]; level++, at += block) {
      if (!linksAreSound(at, upper, level)) return 'a link out of range';
    }
  }
  if (count > 0 && levels[view.getUint32(ENTRY_AT, true)] !== view.getInt32(ENTRY_LEVEL_AT, true)) {
    return 'impossible entry point';
  }
  return undefined;
}

/** The path or name of a shard's graph by its number, from 0, given that of the first: `shard-0.3.graph`, `shard-0.3.graph.1`. */
export function graphPathOf(first: string, number: number): string {
  return number === 0 ? first : `${first}.${number}`;
}
