/**
 * A folder of index files: the manifest, which alone says what is valid, and the files that it names. New files are written beside the valid
 * ones and become valid with the rename of the manifest; a crash at any point leaves one of the two. A manifest or file that fails a check is
 * set aside under `*.bad`, told in the log, and never stops a start: the folder is a cache, and what it lacks comes back from the store.
 * What is set aside may hold text that is forgotten since, so it goes with the next save; what nobody names goes at once.
 *
 *   manifest.json, and files by the manifest's own names
 *   *.new           being written
 *   *.bad           set aside
 */
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../domain/error-code.ts';
import { errorMessage } from '../domain/error-message.ts';
import { replaceText, syncFile, TEMPORARY_SUFFIX } from '../files/durable-file.ts';

const MANIFEST = 'manifest.json';
const BAD_SUFFIX = '.bad';

/** What manifests say of a file. */
export const fileFacts = { bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) };

export interface IndexFolderOptions<Manifest> {
  dir: string;
  manifest: z.ZodType<Manifest>;
  /** Names of files that may be this index's, without what is set aside or being written. */
  ours: RegExp;
  /** Those that a manifest names. */
  filesOf: (manifest: Manifest) => string[];
  /** Why a manifest that can be read is another index's; null if it is this one's. */
  foreign: (manifest: Manifest) => string | null;
  /** Hears what is set aside, and why. */
  told: (files: readonly string[], reason: string) => void;
  /** Called before files become valid, with whatever labels were added until then. */
  noteLabels?: (() => Promise<void>) | undefined;
}

/** What a folder's manifest says; null if there is none, a sentence if it cannot be read. */
export async function readManifest<Manifest>(
  dir: string,
  schema: z.ZodType<Manifest>,
): Promise<Manifest | string | null> {
  try {
    return schema.parse(JSON.parse(await readFile(join(dir, MANIFEST), 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    return `${MANIFEST} cannot be read: ${errorMessage(error).split('\n')[0]}`;
  }
}

/** Make a manifest the folder's. Errors: as of `replaceFile`. */
export function writeManifest(dir: string, manifest: unknown): Promise<void> {
  return replaceText(join(dir, MANIFEST), JSON.stringify(manifest, null, 1));
}

/** One owner, one call at a time. */
export class IndexFolder<Manifest> {
  readonly #options: IndexFolderOptions<Manifest>;

  constructor(options: IndexFolderOptions<Manifest>) {
    this.#options = options;
  }

  path(name: string): string {
    return join(this.#options.dir, name);
  }

  /** Where a file is written before it has its name. */
  temporary(name: string): string {
    return this.path(name + TEMPORARY_SUFFIX);
  }

  /** The manifest; null where there is none that counts. Makes the folder. Errors: only of the folder itself. */
  async read(): Promise<Manifest | null> {
    const { dir, manifest, foreign } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const found = await readManifest(dir, manifest);
    if (found === null) return null;
    const fault = typeof found === 'string' ? found : foreign(found);
    if (fault === null) return found as Manifest;
    await this.setAside([MANIFEST], fault);
    return null;
  }

  /** Give a temporary file its name, durably. Gives its bytes. */
  async keep(temporary: string, name: string): Promise<number> {
    await syncFile(temporary);
    const { size } = await stat(temporary);
    await rename(temporary, this.path(name));
    return size;
  }

  /** Make a manifest the valid one. Errors: those of the file system; as of `replaceFile`. */
  async write(manifest: Manifest): Promise<void> {
    await this.#options.noteLabels?.();
    await writeManifest(this.#options.dir, manifest);
  }

  /** After a save that failed: delete what the folder's manifest does not name; nothing where that cannot be read. Errors: none. */
  async sweepFailed(): Promise<void> {
    try {
      // Whichever that is: what failed may have been bringing the rename to the disk.
      const found = await readManifest(this.#options.dir, this.#options.manifest);
      if (typeof found !== 'string') await this.sweep(found, { isSaved: false });
    } catch {
      // The next save or start deletes it.
    }
  }

  /**
   * Delete what the valid manifest does not name, also a folder that is in the way of a file to come; what was set aside only after a
   * save, `isSaved`.
   */
  async sweep(manifest: Manifest | null, { isSaved }: { isSaved: boolean }): Promise<void> {
    const { dir, ours, filesOf } = this.#options;
    const named = new Set(manifest === null ? [] : [MANIFEST, ...filesOf(manifest)]);
    for (const file of await readdir(dir)) {
      const name = file.replace(/\.new(\.\d+)?$|\.bad$/, '');
      if (named.has(file) || !(ours.test(name) || name === MANIFEST)) continue;
      if (isSaved || !file.endsWith(BAD_SUFFIX)) await rm(join(dir, file), { recursive: true, force: true });
    }
  }

  /** Keep bad files for whoever wants to look at them, in the place of earlier ones; those that are missing are told all the same. */
  async setAside(names: readonly string[], reason: string): Promise<void> {
    this.#options.told(names, reason);
    for (const name of names) {
      const aside = this.path(name + BAD_SUFFIX);
      await rm(aside, { recursive: true, force: true });
      try {
        await rename(this.path(name), aside);
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
      }
    }
  }
}
