/** `readback doctor` checks the installation and changes nothing; `readback fsck` checks store and index in full. */

import { existsSync, lstatSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { clockAheadText, daysAhead } from '../../actors/system/retention.ts';
import { checkFolder, isClean } from '../../composition/check-folder.ts';
import { closing } from '../../compute/closing.ts';
import { errorMessage } from '../../domain/errors.ts';
import { dimProblem } from '../../domain/known-models.ts';
import { builtInModel } from '../../domain/model.ts';
import { Encoder } from '../../encoder/encoder.ts';
import { checkEncoderFiles, encoderDir } from '../../encoder/encoder-files.ts';
import { loadWordList } from '../../engine/words/word-list.ts';
import { findTranscription } from '../../providers/transcription.ts';
import { openYtDlp } from '../../providers/yt-dlp.ts';
import { unknownVariableText } from '../../settings/unknown-variables.ts';
import { proveStore } from '../../store/look-apart.ts';
import { type Context, clientOf, withStore } from '../context.ts';
import { bytesText, CliError, counted, type ExitCode, exitCodes, type Style } from '../output.ts';
import { withStoppedFolder } from '../stopped-folder.ts';

export interface Check {
  name: string;
  state: 'ok' | 'warn' | 'fail' | 'skipped';
  detail: string;
}

const littleRoom = 2 ** 30;
const marks: Record<Check['state'], [string, Style]> = {
  ok: ['ok  ', 'green'],
  warn: ['warn', 'yellow'],
  fail: ['FAIL', 'red'],
  skipped: ['–   ', 'dim'],
};

const nameWidth = 23;

const modules = [
  ['lmdb', 'the store'],
  ['wink-nlp', 'language analysis'],
  ['wink-eng-lite-web-model', 'language analysis'],
  ['@mozilla/readability', 'text of web pages'],
  ['pdfjs-dist/package.json', 'text of PDF files'],
  ['node-sqlite3-wasm', 'histories of browsers'],
] as const;

export async function doctorCommand(context: Context): Promise<ExitCode> {
  const { terminal, json } = context;
  const checks: Check[] = [];
  const look = async (name: string, check: () => Promise<Found> | Found) => {
    terminal.progress(`${name} …`);
    let found: Check;
    try {
      found = { name, ...(await check()) };
    } catch (error) {
      found = { name, state: 'fail', detail: errorMessage(error).split('\n')[0] };
    }
    checks.push(found);
    if (json) return;
    const [mark, style] = marks[found.state];
    terminal.say(`${terminal.style(style, mark)}  ${name.padEnd(nameWidth)} ${found.detail}`);
  };
  await look('node', nodeVersion);
  await look('settings', () => settings(context));
  for (const [name, purpose] of modules)
    await look(name.replace('/package.json', ''), () => moduleLoads(name, purpose));
  await look('transcription', () => transcription(context));
  await look('encoder', () => encoder(context));
  await look('word list', wordList);
  await look('yt-dlp', () => ytDlp(context));
  await look('data folder', () => dataFolder(context));
  await look('disk', () => disk(context));
  await look('service', () => service(context));
  const isEmpty = !existsSync(context.settings.data_dir);
  for (const [name, check] of Object.entries({ store, clock, index }))
    await look(name, () => (isEmpty ? { state: 'skipped', detail: 'empty' } : check(context)));
  const sound = checks.every(({ state }) => state !== 'fail');
  if (json) terminal.json({ sound, checks });
  else terminal.say(sound ? terminal.style('green', 'no faults') : terminal.style('red', 'faulty'));
  return sound ? exitCodes.done : exitCodes.failed;
}

type Found = Omit<Check, 'name'>;

function nodeVersion(): Found {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const fits = major > 20 || (major === 20 && minor >= 20);
  return { state: fits ? 'ok' : 'fail', detail: `${process.versions.node}${fits ? '' : ': 20.20 or newer is needed'}` };
}

/** Wrong settings end every command; unknown ones do not. */
function settings({ unknownVariables: unknown, settings: { embedder } }: Context): Found {
  const problem = dimProblem(embedder.model, embedder.dim);
  const warnings = [...unknown.map(unknownVariableText), ...(problem === null ? [] : [`embedder.dim: ${problem}`])];
  return warnings.length === 0 ? { state: 'ok', detail: 'valid' } : { state: 'warn', detail: warnings.join('; ') };
}

async function moduleLoads(name: string, purpose: string): Promise<Found> {
  const require = createRequire(import.meta.url);
  if (name.endsWith('.json')) require.resolve(name);
  else await import(name);
  return { state: 'ok', detail: purpose };
}

function transcription({ settings }: Context): Found {
  const { kind, detail, ffmpeg } = findTranscription(settings);
  if (kind === null) return { state: 'warn', detail: `audio and podcasts are unavailable: ${detail}` };
  if (!ffmpeg)
    return { state: 'warn', detail: `${kind}: ${detail}; without ffmpeg recordings are sent unchanged and whole` };
  return { state: 'ok', detail: `${kind}: ${detail}` };
}

async function encoder({ settings }: Context): Promise<Found> {
  const dir = settings.encoder.dir ?? encoderDir;
  checkEncoderFiles(dir);
  const log = { info: () => {}, warn: () => {} };
  await using asked = closing(new Encoder({ dim: builtInModel.dim, dir, log }));
  await asked.query(builtInModel.model_name);
  const isNative = asked.state.runtime === 'native';
  const by = isNative ? 'native runtime' : 'WebAssembly, several times slower: onnxruntime-node failed to load';
  return { state: isNative ? 'ok' : 'warn', detail: `the built-in model, ${by}` };
}

function wordList(): Found {
  loadWordList();
  return { state: 'ok', detail: 'words for spelling, completions and compounds' };
}

/** Runs in a temporary folder, as the data folder may be in use. */
async function ytDlp({ settings: { program_path } }: Context): Promise<Found> {
  const tempDir = mkdtempSync(join(tmpdir(), 'readback-doctor-'));
  try {
    const options = { searchPath: program_path, tempDir, allowPrivateHosts: [], perHostGapMs: 0, timeoutMs: 0 };
    const program = openYtDlp(options);
    const found = await program.version(new AbortController().signal);
    if (found === null) return { state: 'warn', detail: 'not installed: videos cannot be read' };
    if (found.guarded) return { state: 'ok', detail: `${found.version}: captions of videos` };
    return { state: 'warn', detail: `${found.version}, limited to the proxy only by its own option (docs/video.md)` };
  } catch (error) {
    return { state: 'warn', detail: `does not work: ${errorMessage(error)}` };
  } finally {
    rmSync(tempDir, { recursive: true, force: true });
  }
}

function dataFolder({ settings: { data_dir } }: Context): Found {
  const entry = lstatSync(data_dir, { throwIfNoEntry: false });
  if (entry === undefined) return { state: 'ok', detail: `the first start creates ${data_dir}` };
  if (!entry.isDirectory()) return { state: 'fail', detail: `${data_dir} is not a plain folder (a link or a file)` };
  if (process.getuid !== undefined && entry.uid !== process.getuid()) {
    return { state: 'fail', detail: `${data_dir} belongs to another user` };
  }
  const mode = entry.mode & 0o777;
  if (mode !== 0o700)
    return { state: 'warn', detail: `${data_dir} has mode ${mode.toString(8)}; the next start changes it to 700` };
  return { state: 'ok', detail: data_dir };
}

function disk({ settings: { data_dir } }: Context): Found {
  let path = data_dir;
  while (!existsSync(path)) path = dirname(path);
  const { bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  return { state: free < littleRoom ? 'warn' : 'ok', detail: `${bytesText(free)} free` };
}

async function service(context: Context): Promise<Found> {
  const client = clientOf(context, 'read');
  if (!(await client.isUp())) return { state: 'skipped', detail: `not running at ${client.baseUrl}` };
  await client.call('GET', '/v1/whoami');
  await client.call('GET', '/readyz');
  await client.call('GET', '/v1/jobs?limit=1'); // of several libraries, another one may be ready
  return { state: 'ok', detail: `ready at ${client.baseUrl}, and the token is accepted` };
}

async function store(context: Context): Promise<Found> {
  return withStore(context, ({ reader }) => {
    const model = reader.models.activeId();
    const pages = counted(reader.pages.count(), 'page');
    if (model === null) return { state: 'warn', detail: `${pages}, no active embedding model` };
    return { state: 'ok', detail: `${pages}, active model ${model}` };
  });
}

async function clock(context: Context): Promise<Found> {
  const days = await withStore(context, ({ reader }) => daysAhead(reader, context.now()));
  return days === null
    ? { state: 'ok', detail: 'agrees with the last event' }
    : { state: 'warn', detail: clockAheadText(days) };
}

/** Needs a store without a writer: skipped while the service runs. */
async function index(context: Context): Promise<Found> {
  try {
    return await withStoppedFolder(context, 'the check of the index', async ({ path, wasUsed }) => {
      await proveStore(path, { isShared: false, wasUsed });
      const report = await checkFolder(path);
      const faults = report.store.length + report.index.reduce((sum, { findings }) => sum + findings.length, 0);
      if (!isClean(report)) return { state: 'fail', detail: `${faults} faults: see \`readback fsck\`` };
      const missing = report.missing > 0 ? `; the next start adds ${report.missing} missing entries` : '';
      return { state: 'ok', detail: `${report.chunks} passages${missing}` };
    });
  } catch (error) {
    if (error instanceof CliError && error.exitCode === exitCodes.inUse) {
      return { state: 'skipped', detail: 'checked only while the service is stopped' };
    }
    throw error;
  }
}

export interface FsckArguments {
  repair?: boolean;
  full?: boolean;
  seed?: number;
}

/** First checks for a running service, to fail like other commands. */
export async function fsckCommand(context: Context, args: FsckArguments): Promise<ExitCode> {
  const { repair = false, full = false, seed } = args;
  await withStore(context, () => undefined); // only a store makes the check useful
  await withStoppedFolder(context, 'fsck', async () => undefined);
  const { settings, terminal, newId, now, json } = context;
  const { runFsck } = await import('../../composition/run-fsck.ts');
  const lines: string[] = [];
  const say = (line: string) => (json ? lines.push(line) : terminal.say(line));
  const sound = await runFsck({ settings, repair, full, seed: seed ?? now() % 2 ** 31, say, newId });
  if (json) terminal.json({ sound, report: lines });
  return sound ? exitCodes.done : exitCodes.failed;
}
