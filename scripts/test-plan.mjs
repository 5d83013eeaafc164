// Which test files are slow, which run in a process of their own, which share one, and in what order. Most files are rules and values, and
// take less time than a process takes to start and load the sources; those of some folders are put together, so many to a process.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folders whose files install the program, start whole services, kill them, or fill disks: minutes. */
const slowFolders = [
  'install',
  'extension-browser',
  'cluster',
  'console',
  'process',
  'cli',
  'reliability',
  'app',
  'scripts',
];
/** Files elsewhere that take ten seconds of processor time and more: hundreds of real documents, thousands of random steps. */
const slowFiles = new Set([
  'test/actors/fetching/read-pdf.test.ts',
  'test/actors/indexes/indexes.test.ts',
  'test/commands/ledger.test.ts',
  'test/compute/embedding/cluster-pages.test.ts',
  'test/compute/extraction/extraction-quality.test.ts',
  'test/compute/extraction/recognize-wall.test.ts',
  'test/fsck/run-fsck.test.ts',
  'test/engine/vectors/space-recovery.test.ts',
  'test/engine/words/sparse-recovery.test.ts',
  'test/processor-time.test.ts',
  'test/providers/yt-dlp.test.ts',
]);
/** Of the folders, what shows the main job with `npm test`, too: pages in, and what is near to them; and rules of the console. */
const quickThere = [
  'test/app/near-pages.test.ts',
  ...['format', 'highlights', 'points'].map((name) => `test/console/${name}.test.ts`),
];
/** What a file changes for the whole of its process, or has done before each of its tests. What `t.mock.method` changes is as it was after the test. */
const ownsProcess =
  /^(?:before|beforeEach|afterEach)\(|\bsharedService\(|(?<!\.)\bmock\b|\bmock\.timers\b|process\.env\.\w+ = |delete process\.env|process\.(?:umask|chdir|on|exit)\b|syncBuiltinESMExports|configureGlobal|constructedOnLoad|\bgc\b/m;
/** Whole systems share threads and encoders: those take longer to load than most tests take. */
const hasSystems = /(?:whole|video)-system\.ts|\/compiled\.ts/;
/** Files of a process that is shared: enough that its start does not count, few enough that the last one is not waited for long. */
const filesTogether = { systems: 20, services: 10, values: 10 };
/** Folders whose files have a process each: they start browsers and servers, or install. Others share them where nothing is done for the whole of a process. */
const apartFolders = new Set(['install', 'extension-browser', 'cluster', 'console', 'scripts']);
/**
 * Files that take longest by themselves (`READBACK_TEST_LONGEST=70 npm run test:slow`): a long one that begins last is waited for alone.
 * Those of clusters wait most of their time, and stand between others.
 */
const longFiles = [
  'cluster/faults console/acting cluster/services console/console cluster/point-in-time console/errors cluster/commits',
  'install/packed extension-browser/firefox cli/backup reliability/failing-disk reliability/index-files process/lifecycle',
  'process/real-pages scripts/run-tests fsck/run-fsck',
].flatMap((line) => line.split(' ').map((name) => `test/${name}.test.ts`));
/** Folders whose files take longest, longest first. */
const longFolders = [
  ...slowFolders,
  'importers',
  'engine',
  'encoder',
  'http',
  'actors',
  'threads',
  'fsck',
  'store',
  'providers',
];

const folderOf = (file) => file.split('/')[1];

/** Whether `npm run test:slow` runs it; `npm test` runs all others. */
export const isSlow = (file) =>
  slowFiles.has(file) || (slowFolders.includes(folderOf(file)) && !quickThere.includes(file));

/** With which others a file shares a process, or null: with none. */
function companyOf(file) {
  const source = readFileSync(file, 'utf8');
  if (ownsProcess.test(source)) return null;
  if (hasSystems.test(source)) return 'systems';
  if (!isSlow(file)) return 'values';
  return apartFolders.has(folderOf(file)) ? null : 'services';
}

/** Place in the order: long files first, then those of long folders. */
function rankOf(file) {
  const own = longFiles.indexOf(file);
  if (own >= 0) return own;
  const place = longFolders.indexOf(folderOf(file));
  return longFiles.length + (place < 0 ? longFolders.length : place);
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

/** The files in the order in which they are to begin; those that share a process as one list. These take longest, and begin first. */
export function planOf(files) {
  const ordered = [...files].sort((a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b));
  const inCompany = (company) => ordered.filter((file) => companyOf(file) === company);
  const groups = Object.keys(filesTogether).flatMap((company) => {
    const shared = inCompany(company);
    const most = filesTogether[company];
    return Array.from({ length: Math.ceil(shared.length / most) }, (_, at) => shared.slice(at * most, (at + 1) * most));
  });
  return [...groups, ...inCompany(null).map((file) => [file])];
}
