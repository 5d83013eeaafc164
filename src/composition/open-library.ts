/** Opens a library in its host: folder, store, then services by dependency. Closes them in reverse. */
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { OpenedLibrary } from '../actors/system/library.ts';
import { CommitFeed } from '../actors/system/service.ts';
import { startServices } from '../actors/system/services.ts';
import type { HeldLibrary } from '../cluster/member.ts';
import { startBackfill } from '../commands/backfill-model.ts';
import { installModel, isOutdated, renewOutdatedModels } from '../commands/manage-models.ts';
import type { JobPolicy } from '../commands/move-job.ts';
import { DomainError } from '../domain/errors.ts';
import { lanes } from '../domain/job.ts';
import { dimProblem } from '../domain/known-models.ts';
import { builtInModel, type EmbeddingModel, localProvider, modelIdOf } from '../domain/model.ts';
import type { Settings } from '../settings/read-settings.ts';
import { clearInterruptedRestore } from '../store/backup.ts';
import { openDataFolder, requireRoomToOpen, requireRoomToUpgrade } from '../store/data-folder.ts';
import { replaceAbandoned } from '../store/environment.ts';
import { LibraryCopy } from '../store/library-copy.ts';
import { proveStore } from '../store/look-apart.ts';
import { Store, type StoreReader } from '../store/store.ts';
import type { LibraryMetrics } from '../telemetry/metrics.ts';
import { type Host, temporaryFolder } from './open-host.ts';
import { servicesOf } from './services.ts';

interface OpenLibraryOptions {
  log: Logger;
  /** Kept when the library is reopened. */
  metrics: LibraryMetrics;
  /** Whether this process had it open before: a missing store is then an error. */
  again: boolean;
  ending: AbortSignal;
  /** Claims a cluster library. Errors: ServedElsewhereError; the database's. */
  hold?: () => Promise<HeldLibrary>;
}

/** Max wait for missing index entries in a cluster, ms, so that a library moves fast to a host without index files. */
export const indexWaitMs = 250;

/** Errors: those of the folder, the store (OperatorError) and the services; everything is closed then. */
export async function openLibrary(
  path: string,
  host: Host,
  { log, metrics, again, ending, hold }: OpenLibraryOptions,
): Promise<OpenedLibrary> {
  const { settings, now, monotonic } = host;
  const took: Record<string, number> = {};
  const timed = async <Result>(step: string, work: () => Promise<Result>): Promise<Result> => {
    const began = monotonic();
    const result = await work();
    took[step] = Math.round(monotonic() - began);
    return result;
  };
  const opened: (() => unknown)[] = [];
  const close = async () => {
    const failures: unknown[] = [];
    for (const closeOne of opened.reverse()) {
      try {
        await closeOne();
      } catch (error) {
        log.error({ err: error }, 'a part of the library could not be closed');
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    ending.throwIfAborted();
    const held = (await timed('claim', async () => hold?.())) ?? null;
    if (held !== null) opened.push(held.release);
    if (again && held === null && !existsSync(join(path, 'store'))) throw new Error(`${path} no longer has a store`);
    const folder = openDataFolder(path, randomUUID());
    // Opening a damaged copy could crash the process, so a copy that was not closed in order is deleted.
    const discardCopy = () => LibraryCopy.discard(path);
    if (held !== null && !folder.wasUsed) discardCopy();
    let isSound = true;
    opened.push(() => {
      if (held !== null && !isSound) discardCopy();
      folder.release();
    });
    clearInterruptedRestore(path);
    if (!again) rmSync(temporaryFolder(path), { recursive: true, force: true }); // left by a killed process
    await replaceAbandoned(join(path, 'store'));
    const requireRoom = () => {
      ending.throwIfAborted();
      requireRoomToOpen(path);
    };
    const open = () =>
      Store.open(path, randomUUID, {
        isFolderLost: folder.isLost,
        say: (line) => log.info(line),
        log: held?.commits ?? null,
      });
    let store: Store;
    if (held !== null) {
      requireRoom();
      isSound = false;
      await timed('rows', () => host.bringingUp(() => held.bringUp(path, randomUUID, ending)));
      store = await timed('store', open);
    } else
      store = await host.opening(async () => {
        requireRoom();
        await proveStore(path, { isShared: false, wasUsed: folder.wasUsed });
        return open();
      });
    opened.push(async () => {
      await store.close();
      isSound = !store.hasFailed;
    });
    const policy = { at: now(), max_attempts: settings.jobs.max_attempts };
    await renewModels(store, path, { ...policy, max_input_tokens: settings.embedder.max_input_tokens }, log);
    await ensureActiveModel(store, settings, { now, log });
    const threads = host.threads.of(randomUUID());
    const recoveryWaitMs = held === null ? undefined : indexWaitMs;
    const { storage } = settings;
    const max_bytes = held?.claim.max_bytes ?? storage.max_bytes;
    const parts = {
      ...host,
      settings: { ...settings, storage: { ...storage, max_bytes } },
      log,
      metrics,
      threads,
      path,
      store,
      feed: new CommitFeed(),
      isShared: held !== null,
      history: held?.history ?? null,
      recoveryWaitMs,
    };
    const services = await timed('services', () => startServices(servicesOf(parts), { ending, log }));
    opened.push(services.stop);
    if (held === null) return { ask: services.ask, broken: services.crashed, close };
    opened.push(() => held.noteDue(dueOf(store.reader, now)));
    log.info({ opening_ms: took, seq: held.claim.seq, keys: held.claim.keys }, 'the library is served here');
    const { lease } = held;
    const ask: typeof services.ask = (name, request, options) =>
      lease.isHeld ? services.ask(name, request, options) : Promise.reject(notHeld());
    return { ask, dueAt: () => dueOf(store.reader, now), broken: Promise.race([services.crashed, lease.lost]), close };
  } catch (error) {
    await close().catch(() => {}); // the reason why it cannot open is more useful
    throw error;
  }
}

/** Time at which a library must be open even without a request, ms since the epoch; null: no time. */
function dueOf({ jobs, watches }: StoreReader, now: () => number): number | null {
  if (jobs.countByStatus('running') > 0) return now();
  const due = [...lanes.map((lane) => jobs.nextDueAt(lane)), watches.nextDueAt()].filter((at) => at !== undefined);
  return due.length === 0 ? null : Math.min(...due);
}

const notHeld = () => new DomainError('store_unavailable', 'the lease of the library has ended', { retryAfterS: 1 });

/** Returns the store's active model. At the first start, the configured model becomes active. */
export async function ensureActiveModel(
  store: Store,
  { embedder, jobs }: Settings,
  { now, log }: { now: () => number; log: Logger },
): Promise<EmbeddingModel | null> {
  const active = store.reader.models.activeModel();
  if (active !== undefined) return active;
  if (embedder.provider === 'none') return null;
  if (embedder.provider !== localProvider && embedder.model === builtInModel.model_name) {
    log.warn(
      { provider: embedder.provider },
      `embedder.model is not set: the provider is asked for the model ${builtInModel.model_name}`,
    );
  }
  const problem = dimProblem(embedder.model, embedder.dim);
  if (problem !== null) log.warn({ model: embedder.model }, `embedder.dim: ${problem}`);
  const isLocal = embedder.provider === localProvider;
  const outside = { provider: embedder.provider, model_name: embedder.model, dim: embedder.dim, floor: null };
  const named = isLocal ? builtInModel : outside;
  return store.commit(
    installModel(
      {
        id: modelIdOf(named),
        ...named,
        max_input_tokens: embedder.max_input_tokens,
      },
      { at: now(), max_attempts: jobs.max_attempts },
    ),
  );
}

/** Replaces old local models and retries failed fillings. Writes only if needed. Errors: OperatorError `disk_full`. */
export async function renewModels(
  store: Store,
  dataDir: string,
  policy: JobPolicy & { max_input_tokens: number },
  log: Logger,
): Promise<void> {
  await retryFilling(store, policy);
  if (!store.reader.models.all().some(isOutdated)) return;
  requireRoomToUpgrade(dataDir);
  const models = await store.commit(renewOutdatedModels(policy));
  log.warn(
    { models },
    'local models of an earlier version were deleted; vectors of the built-in model are made in the background',
  );
}

/** Retries a failed filling, because the encoder may not have worked before. */
async function retryFilling(store: Store, policy: JobPolicy): Promise<void> {
  const id = modelIdOf(builtInModel);
  const model = store.reader.models.get(id);
  if (model === undefined || store.reader.backfills.get(model.space)?.status !== 'failed') return;
  await store.commit(startBackfill(id, policy));
}
