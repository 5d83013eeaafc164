// Which test files run in a process of their own, which share one, and in what order. Most files are rules and values, and take less
// time than a process takes to start and load the sources; those of some folders are put together, so many to a process.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folders below test/ whose files start neither services nor threads. */
const quietFolders = ['commands', 'compute', 'domain', 'importers', 'machines', 'settings', 'store', 'telemetry'];
/** What a file changes for the whole of its process, or sets up for all of its tests. */
const ownsProcess =
  /^(?:before|after|beforeEach|afterEach)\(|\bmock\b|process\.(?:env|umask|chdir|on|exit)\b|syncBuiltinESMExports|configureGlobal|\bgc\b/m;
/** Files of a process that is shared: enough that its start does not count, few enough that the last one is not waited for long. */
const filesTogether = 14;
/** Folders whose files take longest, longest first: a long one that begins last is waited for alone. */
const longFolders = [
  'process',
  'app',
  'cli',
  'reliability',
  'fuzz',
  'http',
  'soak',
  'index',
  'actors',
  'threads',
  'fsck',
];

const folderOf = (file) => file.split('/')[1];

function mayShare(file) {
  return quietFolders.includes(folderOf(file)) && !ownsProcess.test(readFileSync(file, 'utf8'));
}

/** Place in the order: files of long folders first. */
function rankOf(file) {
  const place = longFolders.indexOf(folderOf(file));
  return place < 0 ? longFolders.length : place;
}

/**
 * A module that runs these files one after another, in a new folder; gives its path and the folder, which the caller removes. A file that
 * cannot be loaded, or ends the process, fails it.
 */
export function together(name, files) {
  const dir = mkdtempSync(join(tmpdir(), 'readback-tests-'));
  const entry = join(dir, `${name}.mjs`);
  writeFileSync(
    entry,
    files.map((file) => `await import(${JSON.stringify(pathToFileURL(resolve(file)).href)});\n`).join(''),
  );
  return { entry, dir };
}

/** The files in the order in which they are to begin; those that share a process as one list. */
export function planOf(files) {
  const alone = files.filter((file) => !mayShare(file)).sort((a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b));
  const shared = files.filter(mayShare).sort();
  const groups = Array.from({ length: Math.ceil(shared.length / filesTogether) }, (_, at) =>
    shared.slice(at * filesTogether, (at + 1) * filesTogether),
  );
  return [...alone.map((file) => [file]), ...groups];
}
