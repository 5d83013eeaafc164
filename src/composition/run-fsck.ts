/** The `fsck` command: verifies a data folder. `--repair` deletes faulty index files; a start rebuilds them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { closing } from '../compute/closing.ts';
import { builtInModel } from '../domain/model.ts';
import { Encoder, EncoderUnusableError } from '../encoder/encoder.ts';
import { encoderDir } from '../encoder/encoder-files.ts';
import { openPageTools } from '../engine/prepare-page.ts';
import type { Settings } from '../settings/read-settings.ts';
import { openDataFolder } from '../store/data-folder.ts';
import { proveStore } from '../store/look-apart.ts';
import { checkFolder, type FolderReport } from './check-folder.ts';

export interface FsckOptions {
  settings: Settings;
  repair: boolean;
  full: boolean;
  seed: number;
  say: (line: string) => void;
  newId: () => string;
}

/** Max faults shown per kind; the others are only counted. */
const shownFindings = 20;
/** Pages of a sample: a second or two. */
const samplePages = 500;
/** Max time for comparing vectors with texts, ms. */
const encodingMs = 20_000;
const remedy =
  'the store was not changed: restore a backup (`readback restore DIR --replace`), or import an export (`readback export FILE`) into a new data folder (`readback import FILE`), which keeps pages, visits, tags, notes, blocked sites and watches';

/** True if intact, or after the next start. Errors: OperatorError `data_folder` (in use), `store_damaged`. */
export async function runFsck({ settings, repair, full, seed, say, newId }: FsckOptions): Promise<boolean> {
  using folder = openDataFolder(settings.data_dir, newId());
  const comparing = {
    sample: { seed, pages: full ? Number.POSITIVE_INFINITY : samplePages },
    tools: openPageTools(settings.chunking),
  };
  const log = { info: () => {}, warn: () => {} };
  await using encoder = closing(new Encoder({ dim: builtInModel.dim, dir: settings.encoder.dir ?? encoderDir, log }));
  const encode = (texts: readonly string[]) => encoder.encode(texts, 'passage');
  const look = async (path: string) => {
    const endsAt = performance.now() + encodingMs;
    const texts = { encode, isOver: () => performance.now() > endsAt };
    const report = await checkFolder(path, { ...comparing, texts }).catch((error) => {
      if (!(error instanceof EncoderUnusableError)) throw error;
      say(`vectors are not compared with texts: ${error.message}`);
      return checkFolder(path, comparing);
    });
    tell(report, seed, say);
    return report;
  };
  await proveStore(folder.path, { isShared: false, wasUsed: folder.wasUsed });
  const { store, index } = await look(folder.path);
  for (const { dir } of repair ? index : []) {
    rmSync(join(folder.path, 'index', dir), { recursive: true, force: true });
    say(`index/${dir}: deleted, the next start builds it again`);
  }
  const isSound = store.length === 0 && (repair || index.length === 0);
  say(!isSound ? 'not sound' : index.length === 0 ? 'sound' : 'sound after the next start rebuilds the deleted files');
  if (store.length > 0) say(remedy);
  return isSound;
}

function tell(report: FolderReport, seed: number, say: (line: string) => void): void {
  say(`${report.pages} pages, ${report.chunks} chunks`);
  const { compared } = report;
  if (compared !== undefined) {
    const which = compared.pages < compared.of ? ` (--seed ${seed}; --full: all)` : '';
    say(
      `${compared.pages} pages compared with their chunks and words, ${compared.vectors} vectors with their texts${which}`,
    );
    if (compared.ofEarlierVersions > 0)
      say(`an earlier version indexed ${compared.ofEarlierVersions} of them, so their words were not compared`);
  }
  const kinds = [
    ['store', report.store] as const,
    ...report.index.map((each) => [`index/${each.dir}`, each.findings] as const),
  ];
  for (const [where, findings] of kinds) {
    for (const finding of findings.slice(0, shownFindings)) say(`${where}: ${finding}`);
    if (findings.length > shownFindings) say(`${where}: and ${findings.length - shownFindings} more`);
  }
  if (report.missing > 0) say(`${report.missing} entries are not in the index files yet: the next start adds them`);
  if (report.waiting > 0) say(`${report.waiting} pages wait for vectors of a model: its backfill makes them`);
  if (report.refused > 0) say(`${report.refused} chunks have no vector of a model: its provider refuses them`);
}
