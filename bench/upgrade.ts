/**
 * Rehearses an upgrade from a version whose local models have no encoder any more: the disk that it takes, the time until words serve and
 * until vectors are filled (projected from the rate of the first `--fill-s`), and the way back from a backup. The library is
 * made by this version, its vectors and models then replaced by those of the earlier one; `--folder` takes a copy of a real one instead. Prints JSON.
 *
 *   npm run bench -- upgrade                                   20,000 pages of 300 words
 *   npm run bench -- upgrade --folder DATA --fill-s 3600
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { retire } from '../src/commands/manage-models.ts';
import { builtInModel, type ModelBackfillResponse, type ModelListResponse, modelIdOf } from '../src/domain/model.ts';
import type { SearchResponse } from '../src/domain/search.ts';
import { newModel } from '../src/machines/model.ts';
import { Store } from '../src/store/store.ts';
import { StoreView } from '../src/store/store-view.ts';
import { englishWords } from './english-words.ts';
import { allIndexed, pagesOf, pushPages } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerPage = 300;
const lookMs = 100;
const earlier = 'local-wink-384';
/** Pages whose vectors are written in one transaction. */
const agedAtOnce = 500;
const mb = 1024 * 1024;

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '20000' },
    'fill-s': { type: 'string', default: '120' },
    folder: { type: 'string' },
  },
});
const fillMs = 1000 * Number(values['fill-s']);
const home = mkdtempSync(join(tmpdir(), 'readback-upgrade-'));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const secondsSince = (began: number) => Math.round(performance.now() - began) / 1000;

function sizeMb(folder: string): number {
  return Math.round(bytesIn(folder) / mb);
}

/** Files and folders that go meanwhile have none. */
function bytesIn(path: string): number {
  try {
    const entry = statSync(path);
    if (!entry.isDirectory()) return entry.blocks * 512;
    return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

function cli(dataDir: string, ...given: string[]): number {
  const began = performance.now();
  const env = { ...process.env, SERVICE_DATA_DIR: dataDir };
  const { status, stderr } = spawnSync(process.execPath, ['dist/cli/main.js', ...given], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`readback ${given[0]}: ${stderr}`);
  return secondsSince(began);
}

/** Give the folder the models and vectors of the earlier version. */
async function age(dataDir: string): Promise<void> {
  const store = await Store.open(dataDir, () => 'upgrade');
  const { dim } = builtInModel;
  const space = await store.commit((transaction) => {
    const old = { id: earlier, ...builtInModel, model_name: 'wink', max_input_tokens: 32_000 };
    const { models, counters } = transaction;
    const replaced = models.all();
    const model = newModel(old, counters.take('space'), 'ready');
    models.put(model);
    models.activate(earlier);
    for (const each of replaced) retire(transaction, each, 0);
    return model.space;
  });
  const end = store.reader.counters.peek('page');
  for (let from = 1; from < end; from += agedAtOnce) {
    await store.commit(({ pages, vectors }) => {
      for (let no = from; no < Math.min(end, from + agedAtOnce); no++) {
        const chunks = pages.head(no)?.chunk_count ?? 0;
        if (chunks > 0) vectors.put(space, no, new Float32Array(chunks * dim).fill(1 / Math.sqrt(dim)));
      }
    });
  }
  await store.close();
  for (const side of ['dense', 'pages']) rmSync(join(dataDir, 'index', side), { recursive: true, force: true });
}

const vocabulary = englishWords(60_000);
const words = openWorkload({ seed, wordsPerChunk: wordsPerPage, vocabulary });
const service = await runService({ SERVICE_ENTITY__ENABLED: 'false' });
try {
  const made = await service.call('POST', '/v1/models/fill', { paused: true });
  if (made.status !== 200) throw new Error(`filling could not be paused: ${made.status}`);
  if (values.folder === undefined) {
    await pushPages(
      service,
      Array.from({ length: Number(values.pages) }, (_, page) => pagesOf(words)(page)),
    );
    while (!(await allIndexed(service))) await pause(lookMs);
    await service.call('POST', '/v1/models/fill', { paused: false });
  }
  const backup = join(home, 'backup');
  let folder = '';
  let backupS = 0;
  let before = 0;
  let began = 0;
  const ready_s = await service.restart(async (dataDir) => {
    folder = dataDir;
    if (values.folder === undefined) await age(dataDir);
    else {
      rmSync(dataDir, { recursive: true });
      cpSync(values.folder, dataDir, { recursive: true });
    }
    before = sizeMb(dataDir);
    backupS = cli(dataDir, 'backup', backup);
    began = performance.now();
  });
  const query = words.query(0).words.join(' ');
  const isFound = async () => {
    const { status, body } = await service.call('POST', '/v1/search', { query, suggest: 0, min_relevance: 0 });
    return status === 200 && (body as SearchResponse).results.length > 0;
  };
  while (!(await isFound())) await pause(lookMs);
  const wordsS = secondsSince(began);

  const pendingNow = async () => {
    const { models } = (await service.call('GET', '/v1/models')).body as ModelListResponse;
    const active = models.find(({ is_active }) => is_active);
    if (active?.id !== modelIdOf(builtInModel)) throw new Error(`the active model is ${active?.id}`);
    return active.vectors_pending ?? 0;
  };
  const path = `/v1/models/${modelIdOf(builtInModel)}/backfill`;
  const { total_chunks: passages } = (await service.call('GET', path)).body as ModelBackfillResponse;
  let most = before;
  let left = await pendingNow();
  while (left > 0 && performance.now() - began < fillMs) {
    await pause(lookMs);
    most = Math.max(most, sizeMb(folder));
    left = await pendingNow();
  }
  const fillS = secondsSince(began);
  const rate = (passages - left) / fillS;

  const restored = join(home, 'restored');
  const restoreS = cli(restored, 'restore', backup);
  const view = StoreView.open(restored);
  const back = { active_model: view.reader.models.activeId(), pages: view.reader.pages.count() };
  await view.close();
  console.log(
    JSON.stringify(
      {
        ...{ bench: 'upgrade', seed, pages: back.pages, passages, machine: describeMachine() },
        disk_mb: { before, most_while_filling: most, backup: sizeMb(backup) },
        seconds: {
          backup: backupS,
          ready: Math.round(ready_s) / 1000,
          words_serve: wordsS,
          filled: left === 0 ? fillS : null,
          filled_projected: left === 0 || rate === 0 ? null : Math.round(passages / rate),
          restore: restoreS,
        },
        vectors_per_s: Math.round(10 * rate) / 10,
        back,
      },
      null,
      2,
    ),
  );
} finally {
  await service.stop();
  rmSync(home, { recursive: true, force: true });
}
