/**
 * A folder of index files. Files are valid once the manifest that names them is renamed into place, so a crash leaves
 * the old or the new state. A manifest or file that fails a check is renamed to `*.bad` and logged, but never stops a
 * start: the store can rebuild everything. `*.bad` files may contain forgotten text, so the next save deletes them;
 * other unnamed files are deleted at once. `*.new` files are being written.
 */

import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode, errorMessage, nullIfMissing } from '../domain/errors.ts';
import { replaceText, syncFile, TEMPORARY_SUFFIX } from '../files/durable-file.ts';

const MANIFEST = 'manifest.json';
const BAD_SUFFIX = '.bad';

export const fileFacts = { bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) };

export interface IndexFolderOptions<Manifest> {
  dir: string;
  manifest: z.ZodType<Manifest>;
  /** Matches all file names of this index, without `*.new` and `*.bad`. */
  ours: RegExp;
  filesOf: (manifest: Manifest) => string[];
  /** Why a readable manifest belongs to another index; null if it does not. */
  foreign: (manifest: Manifest) => string | null;
  /** Called with files that were set aside, and why. */
  told: (files: readonly string[], reason: string) => void;
  /** Called before files become valid, so the mark covers their labels. */
  noteLabels?: (() => Promise<void>) | undefined;
}

/** Null if there is no manifest; a message if it is unreadable. */
export async function readManifest<Manifest>(
  dir: string,
  schema: z.ZodType<Manifest>,
): Promise<Manifest | string | null> {
  try {
    return schema.parse(JSON.parse(await readFile(join(dir, MANIFEST), 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error);
    return `${MANIFEST} cannot be read: ${reason.split('\n')[0]}`;
  }
}

export function writeManifest(dir: string, manifest: unknown): Promise<void> {
  return replaceText(join(dir, MANIFEST), JSON.stringify(manifest, null, 1));
}

export class IndexClosedError extends Error {
  readonly code = 'index_closed';
}

/** It has one owner, who makes one call at a time. */
export function indexFolder<Manifest>(options: IndexFolderOptions<Manifest>) {
  const { dir, manifest: schema, ours, filesOf, foreign, told, noteLabels } = options;
  const path = (name: string): string => join(dir, name);

  /** Deletes all that the valid manifest does not name, even folders in a file's place; `*.bad` files if `isSaved`. */
  const sweep = async (manifest: Manifest | null, { isSaved }: { isSaved: boolean }): Promise<void> => {
    const named = new Set(manifest === null ? [] : [MANIFEST, ...filesOf(manifest)]);
    for (const file of await readdir(dir)) {
      const name = file.replace(/\.new(\.\d+)?$|\.bad$/, '');
      if (named.has(file) || !(ours.test(name) || name === MANIFEST)) continue;
      if (isSaved || !file.endsWith(BAD_SUFFIX)) await rm(path(file), { recursive: true, force: true });
    }
  };

  /** Rename bad files to `*.bad`, replacing earlier ones. Missing files are only reported. */
  const setAside = async (names: readonly string[], reason: string): Promise<void> => {
    told(names, reason);
    for (const name of names) {
      const aside = path(name + BAD_SUFFIX);
      await rm(aside, { recursive: true, force: true });
      await rename(path(name), aside).catch(nullIfMissing);
    }
  };

  return {
    path,
    temporary: (name: string): string => path(name + TEMPORARY_SUFFIX),
    sweep,
    setAside,
    /** The valid manifest or null. Creates the folder. Errors: only of the folder itself. */
    async read(): Promise<Manifest | null> {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const found = await readManifest(dir, schema);
      if (found === null) return null;
      const fault = typeof found === 'string' ? found : foreign(found);
      if (fault === null) return found as Manifest;
      await setAside([MANIFEST], fault);
      return null;
    },
    /** Rename a temporary file to its final name, durably. Returns its size. */
    async keep(temporary: string, name: string): Promise<number> {
      await syncFile(temporary);
      const { size } = await stat(temporary);
      await rename(temporary, path(name));
      return size;
    },
    /** Puts a manifest in place after `make` wrote its files; then call `sweep`. After an error the old state loads. */
    async replace<Made extends Manifest>(make: () => Promise<Made>): Promise<Made> {
      try {
        const manifest = await make();
        await noteLabels?.();
        await writeManifest(dir, manifest);
        return manifest;
      } catch (error) {
        // The error may come after the rename: the manifest on disk decides. The next save deletes the rest.
        const found = await readManifest(dir, schema);
        if (typeof found !== 'string') await sweep(found, { isSaved: false }).catch(() => {});
        throw error;
      }
    },
  };
}
