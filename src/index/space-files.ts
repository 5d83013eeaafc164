/**
 * A vector space's folder: the manifest, which alone says what is valid, and the files that it names. A new generation is
 * written beside the old one and becomes valid with the rename of the manifest; a crash at any point leaves one of the two.
 * What the manifest does not name is left over and deleted; what it names wrongly is set aside under `*.bad`, one of each.
 *
 *   manifest.json               `spaceManifest` below
 *   shard-<n>.<generation>.rows, .graph (of several graphs the next ones .graph.1, .graph.2 ...)
 */
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../domain/error-code.ts';
import { errorMessage } from '../domain/error-message.ts';
import { replaceText, syncFile, TEMPORARY_SUFFIX } from '../files/durable-file.ts';
import { quarantine } from './quarantine.ts';

const file = z.strictObject({
  name: z.string().regex(/^shard-\d+\.\d+\.(rows|graph(\.\d+)?)$/),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const graphFile = z.strictObject({ ...file.shape, covered: z.int().min(0) });

/** Files of one shard. Rows are null if it has never been saved; graphs are in the order of the rows that they cover. */
const shardFiles = z.strictObject({ rows: file.nullable(), graphs: z.array(graphFile) });

/** Before there were several graphs a shard had one, or null. */
const shardFilesOfFormat1 = z
  .strictObject({ rows: file.nullable(), graph: graphFile.nullable() })
  .transform(({ rows, graph }) => ({ rows, graphs: graph === null ? [] : [graph] }));

const spaceManifest = z.strictObject({
  format: z.literal([1, 2]).transform((): 2 => 2),
  generation: z.int().min(0),
  store_id: z.string(),
  model_id: z.string(),
  dim: z.int().min(1),
  space: z.literal('cosine'),
  /** One per shard; a label is in shard `label % shards.length`. */
  shards: z.array(z.union([shardFiles, shardFilesOfFormat1])),
});

export type SpaceManifest = z.infer<typeof spaceManifest>;
export type SpaceFile = z.infer<typeof file>;
export type ShardFiles = z.infer<typeof shardFiles>;

const MANIFEST = 'manifest.json';
const OURS = /^(shard-\d+\.\d+\.(rows|graph)|manifest\.json)(\.new)?(\.\d+)?$/;

/** The manifest, or why there is none that can be read; null if the folder has none. Makes the folder. */
export async function readManifest(dir: string): Promise<SpaceManifest | string | null> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    return spaceManifest.parse(JSON.parse(await readFile(join(dir, MANIFEST), 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    return `unreadable: ${errorMessage(error).split('\n')[0]}`;
  }
}

/** Make `manifest` the valid one. */
export async function writeManifest(dir: string, manifest: SpaceManifest): Promise<void> {
  await replaceText(join(dir, MANIFEST), JSON.stringify(manifest, null, 2));
}

/** Give a temporary file its name, durably. The checksum is that of the thread that wrote it: nothing is read here. */
export async function keepFile(dir: string, temporary: string, name: string, sha256: string): Promise<SpaceFile> {
  await syncFile(temporary);
  const { size: bytes } = await stat(temporary);
  await rename(temporary, join(dir, name));
  return { name, bytes, sha256 };
}

export function temporaryPath(dir: string, name: string): string {
  return join(dir, name + TEMPORARY_SUFFIX);
}

/** Keep a bad file for whoever wants to look at it, in the place of an earlier one; a missing file is no trouble. */
export async function setAside(dir: string, name: string): Promise<void> {
  await quarantine(join(dir, name), join(dir, `${name.replace(/\.\d+\./, '.')}.bad`));
}

export async function setManifestAside(dir: string): Promise<void> {
  await setAside(dir, MANIFEST);
}

/** Delete what was set aside: it may hold vectors of forgotten text. */
export async function dropQuarantined(dir: string): Promise<void> {
  for (const name of await readdir(dir)) if (name.endsWith('.bad')) await rm(join(dir, name), { recursive: true });
}

/** Delete what is ours by its name and not named by the manifest, a folder that is in the way of a file to come included. */
export async function sweep(dir: string, manifest: SpaceManifest | null): Promise<void> {
  const named = new Set<string>(manifest === null ? [] : [MANIFEST]);
  for (const { rows, graphs } of manifest?.shards ?? []) {
    for (const each of [rows, ...graphs]) if (each) named.add(each.name);
  }
  for (const name of await readdir(dir)) {
    if (OURS.test(name) && !named.has(name)) await rm(join(dir, name), { recursive: true, force: true });
  }
}
