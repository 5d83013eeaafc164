import { z } from 'zod';

export const diskParts = ['store', 'words', 'passage_vectors', 'page_vectors', 'other'] as const;
export type DiskPart = (typeof diskParts)[number];

export const diskResponse = z.strictObject({
  dir: z.string().describe('the folder of the library'),
  parts: z
    .array(z.strictObject({ part: z.enum(diskParts), bytes: z.int() }))
    .describe('what the files of each part take: the store, the three parts of the index, and the rest of the folder'),
  store_used_bytes: z.int().describe('of the store, what is in use: what `storage.max_bytes` bounds'),
  store_max_bytes: z.int().nullable().describe('`storage.max_bytes`'),
  free_bytes: z.int().describe('left on the disk for the service'),
  disk_bytes: z.int().describe('all of the disk'),
});
export type DiskResponse = z.infer<typeof diskResponse>;
