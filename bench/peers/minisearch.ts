/** MiniSearch as a peer: text only, all in JavaScript objects, kept on disk as its own JSON. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { type BenchData, type BenchQuery, TOP, textBatches } from '../engine/data-folder.ts';
import { rounded } from '../engine/statistics.ts';
import { importPeer } from './import-peer.ts';

interface MiniSearch {
  addAll(documents: readonly { id: number; text: string }[]): void;
  search(query: string, options: object): { id: number }[];
}
interface MiniSearchModule {
  default: { new (options: object): MiniSearch; loadJSON(json: string, options: object): MiniSearch };
}

export const name = 'minisearch';
const BATCH = 1000;
const OPTIONS = { fields: ['text'] };
/** BM25 as the others have it; its own default adds a delta. */
const SCORING = { bm25: { k: 1.2, b: 0.75, d: 0 } };

export async function open(dir: string, data: BenchData): Promise<BenchEngine> {
  const { default: Index } = await importPeer<MiniSearchModule>('minisearch');
  const path = join(dir, 'chunks.json');
  const saved = await readIfThere(path);
  const index = saved === undefined ? new Index(OPTIONS) : Index.loadJSON(saved, OPTIONS);
  return {
    searches: {
      sparse: ({ text }: BenchQuery) =>
        index
          .search(text, SCORING)
          .slice(0, TOP)
          .map(({ id }) => id),
    },
    async build() {
      const began = performance.now();
      for await (const { first, texts } of textBatches(data, BATCH)) {
        index.addAll(texts.map((text, i) => ({ id: first + i, text })));
      }
      const searchable_s = rounded((performance.now() - began) / 1000);
      await writeFile(path, JSON.stringify(index));
      return { searchable_s, settled_s: rounded((performance.now() - began) / 1000) };
    },
    footprint: async () => ({ file_mb: Math.round((await stat(path)).size / 1e6) }),
    close: async () => undefined,
  };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
