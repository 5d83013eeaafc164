/**
 * `readback doctor`: whether everything that the service needs is there: settings, folder, native modules, capabilities, word vectors, the tagger of
 * names, a sound index. Changes nothing.
 */
import { existsSync, lstatSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { loadNameTagger } from '../../actors/entities/load-name-tagger.ts';
import { errorMessage } from '../../domain/error-message.ts';
import { dimProblem } from '../../domain/known-models.ts';
import { loadWordVectors } from '../../engine/load-word-vectors.ts';
import { checkFolder, isClean } from '../../fsck/check-folder.ts';
import { findTranscription } from '../../providers/transcription.ts';
import { transformersPackage, transformersProvider } from '../../providers/transformers.ts';
import { openYtDlp } from '../../providers/yt-dlp.ts';
import { unknownVariableText } from '../../settings/unknown-variables.ts';
import { proveStore } from '../../store/look-apart.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf, withStore } from '../context.ts';
import { withStoppedFolder } from '../stopped-folder.ts';
import { bytesText, type Style } from '../terminal.ts';

export interface Check {
  name: string;
  state: 'ok' | 'warn' | 'fail' | 'skipped';
  detail: string;
}

/** Less room than this on the disk is worth a word. */
const littleRoom = 2 ** 30;
const marks: Record<Check['state'], [string, Style]> = {
  ok: ['ok  ', 'green'],
  warn: ['warn', 'yellow'],
  fail: ['FAIL', 'red'],
  skipped: ['–   ', 'dim'],
};

/** The longest name has so many characters. */
const nameWidth = 23;

/** What has to be there to run at all, by what it is for. */
const modules = [
  ['lmdb', 'the store'],
  ['wink-nlp', 'language analysis'],
  ['wink-eng-lite-web-model', 'language analysis'],
  ['@mozilla/readability', 'text of web pages'],
  ['compromise', 'entities'],
  ['pdfjs-dist/package.json', 'text of PDF files'],
  ['node-sqlite3-wasm', 'histories of browsers'],
] as const;

export async function doctorCommand(context: Context): Promise<ExitCode> {
  const { terminal, json } = context;
  const checks: Check[] = [];
  const look = async (name: string, check: () => Promise<Omit<Check, 'name'>> | Omit<Check, 'name'>) => {
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
  await look('word vectors', wordVectors);
  await look('name tagger', nameTagger);
  await look('transformers', () => transformers(context));
  await look('yt-dlp', () => ytDlp(context));
  await look('data folder', () => dataFolder(context));
  await look('disk', () => disk(context));
  await look('service', () => service(context));
  await look('store', () => store(context));
  await look('index', () => index(context));
  const sound = checks.every(({ state }) => state !== 'fail');
  if (json) terminal.json({ sound, checks });
  else terminal.say(sound ? terminal.style('green', 'sound') : terminal.style('red', 'not sound'));
  return sound ? exitCodes.done : exitCodes.failed;
}

type Found = Omit<Check, 'name'>;

function nodeVersion(): Found {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const fits = major > 20 || (major === 20 && minor >= 20);
  return { state: fits ? 'ok' : 'fail', detail: `${process.versions.node}${fits ? '' : ': 20.20 or newer is needed'}` };
}

/** Those that are wrong end every command; those that name none do not. */
function settings({ unknownVariables: unknown, settings: { embedder } }: Context): Found {
  const problem = dimProblem(embedder.model, embedder.dim);
  const told = [...unknown.map(unknownVariableText), ...(problem === null ? [] : [`embedder.dim: ${problem}`])];
  return told.length === 0 ? { state: 'ok', detail: 'sound' } : { state: 'warn', detail: told.join('; ') };
}

async function moduleLoads(name: string, purpose: string): Promise<Found> {
  const require = createRequire(import.meta.url);
  if (name.endsWith('.json')) require.resolve(name);
  else await import(name);
  return { state: 'ok', detail: purpose };
}

/** Only recordings need it. */
function transcription({ settings }: Context): Found {
  const { kind, detail, ffmpeg } = findTranscription(settings);
  if (kind === null) return { state: 'warn', detail: `no audio and no podcasts: ${detail}` };
  if (!ffmpeg)
    return { state: 'warn', detail: `${kind}: ${detail}; without ffmpeg recordings are sent whole, as they are` };
  return { state: 'ok', detail: `${kind}: ${detail}` };
}

function wordVectors(): Found {
  loadWordVectors();
  return { state: 'ok', detail: 'the built-in embedding model' };
}

function nameTagger(): Found {
  loadNameTagger();
  return { state: 'ok', detail: 'where names begin and end' };
}

/** The optional package, wanted only where the settings or a registered model name its provider; and the reranker's files, where it is a folder. */
async function transformers(context: Context): Promise<Found> {
  const { embedder, reranker, data_dir } = context.settings;
  const reranks = reranker.kind === 'api' && reranker.provider === transformersProvider;
  const isRegistered = () =>
    withStore(context, ({ reader }) => reader.models.all().some(({ provider }) => provider === transformersProvider));
  const isWanted =
    reranks || embedder.provider === transformersProvider || (existsSync(data_dir) && (await isRegistered()));
  if (!isWanted) return { state: 'skipped', detail: 'no model needs it' };
  try {
    createRequire(import.meta.url).resolve(transformersPackage);
  } catch {
    return { state: 'fail', detail: `${transformersPackage} is not installed: npm install ${transformersPackage}` };
  }
  const model = reranks ? (reranker.model ?? '') : '';
  const lacking = isAbsolute(model) && neededFiles(reranker.dtype).find((file) => !existsSync(join(model, file)));
  if (lacking) return { state: 'fail', detail: `the reranker's file ${join(model, lacking)} is not there` };
  return { state: 'ok', detail: `${transformersPackage} is installed` };
}

const suffixes: Readonly<Record<string, string>> = { fp32: '', q8: '_quantized' };
const neededFiles = (dtype: string) => [
  'config.json',
  'tokenizer.json',
  `onnx/model${suffixes[dtype] ?? `_${dtype}`}.onnx`,
];

/** In a folder of its own: the data folder may be in use. */
async function ytDlp({ settings: { program_path } }: Context): Promise<Found> {
  const tempDir = mkdtempSync(join(tmpdir(), 'readback-doctor-'));
  try {
    const program = openYtDlp({
      searchPath: program_path,
      tempDir,
      allowPrivateHosts: [],
      perHostGapMs: 0,
      timeoutMs: 0,
    });
    const found = await program.version(new AbortController().signal);
    if (found === null) return { state: 'warn', detail: 'not installed: videos cannot be read' };
    if (found.guarded) return { state: 'ok', detail: `${found.version}: captions of videos` };
    return { state: 'warn', detail: `${found.version}, kept to the proxy by its own option only (docs/video.md)` };
  } catch (error) {
    return { state: 'warn', detail: `does not work: ${errorMessage(error)}` };
  } finally {
    rmSync(tempDir, { recursive: true, force: true });
  }
}

function dataFolder({ settings: { data_dir } }: Context): Found {
  const entry = lstatSync(data_dir, { throwIfNoEntry: false });
  if (entry === undefined) return { state: 'ok', detail: `${data_dir} is made by the first start` };
  if (!entry.isDirectory()) return { state: 'fail', detail: `${data_dir} is not a plain folder (a link or a file)` };
  if (process.getuid !== undefined && entry.uid !== process.getuid()) {
    return { state: 'fail', detail: `${data_dir} belongs to another user` };
  }
  const mode = entry.mode & 0o777;
  if (mode !== 0o700)
    return { state: 'warn', detail: `${data_dir} has mode ${mode.toString(8)}; the next start makes it 700` };
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
  if (!(await client.isUp())) return { state: 'skipped', detail: `nothing answers at ${client.baseUrl}` };
  await client.call('GET', '/v1/whoami');
  await client.call('GET', '/readyz');
  await client.call('GET', '/v1/jobs?limit=1'); // of several libraries one may be ready, and this one not
  return { state: 'ok', detail: `ready at ${client.baseUrl}, and the token is accepted` };
}

async function store(context: Context): Promise<Found> {
  if (!existsSync(context.settings.data_dir)) return { state: 'skipped', detail: 'nothing there yet' };
  return withStore(context, ({ reader }) => {
    const model = reader.models.activeId();
    const pages = `${reader.pages.count()} pages`;
    if (model === null) return { state: 'warn', detail: `${pages}, no active embedding model` };
    return { state: 'ok', detail: `${pages}, active model ${model}` };
  });
}

/** Needs a store that nobody writes: left out beside a running service. */
async function index(context: Context): Promise<Found> {
  if (!existsSync(context.settings.data_dir)) return { state: 'skipped', detail: 'nothing there yet' };
  try {
    return await withStoppedFolder(context, 'the check of the index', async ({ path, wasUsed }) => {
      await proveStore(path, { beside: false, wasUsed });
      const report = await checkFolder(path);
      const faults = report.store.length + report.index.reduce((sum, { findings }) => sum + findings.length, 0);
      if (!isClean(report)) return { state: 'fail', detail: `${faults} faults: see \`readback fsck\`` };
      const missing = report.missing > 0 ? `; the next start brings ${report.missing} entries into its files` : '';
      return { state: 'ok', detail: `${report.chunks} passages${missing}` };
    });
  } catch (error) {
    if (error instanceof CliError && error.exitCode === exitCodes.inUse) {
      return { state: 'skipped', detail: 'checked only while the service is stopped' };
    }
    throw error;
  }
}
