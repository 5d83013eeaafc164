/** Writes text in an encoding, which Node cannot: a table made by decoding every sequence of one and two bytes. */
const tables = new Map<string, Map<string, number[]>>();

export function encodeText(text: string, encoding: string): Uint8Array {
  if (encoding === 'utf-16le') return Uint8Array.from(Buffer.from(text, 'utf16le'));
  if (encoding === 'utf-16be') return Uint8Array.from(Buffer.from(text, 'utf16le').swap16());
  const table = tables.get(encoding) ?? tableOf(encoding);
  tables.set(encoding, table);
  return Uint8Array.from(
    [...text].flatMap((character) => {
      const bytes = table.get(character);
      if (bytes === undefined) throw new Error(`${encoding} has no ${character}`);
      return bytes;
    }),
  );
}

function tableOf(encoding: string): Map<string, number[]> {
  const table = new Map<string, number[]>();
  const add = (bytes: number[]) => {
    const text = new TextDecoder(encoding).decode(Uint8Array.from(bytes));
    if ([...text].length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes);
  };
  for (let first = 0; first < 256; first++) add([first]);
  if (!/^(?:windows|iso|koi8)/.test(encoding)) {
    for (let first = 0x81; first < 0xff; first++) for (let second = 0x40; second < 0xff; second++) add([first, second]);
  }
  // Node 20 decodes these as if they were Latin-1.
  if (encoding === 'windows-1252')
    for (const [at, character] of Object.entries(quotes)) table.set(character, [Number(at)]);
  return table;
}

const quotes = { 128: '€', 132: '„', 147: '“', 150: '–' };
