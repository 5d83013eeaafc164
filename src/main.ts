/**
 * The process: arguments, settings, signals and exit codes. 0 stopped in order · 1 failed · 2 wrong settings or arguments · 6 damaged
 * store. It is killed on another signal two seconds or more after the first, and when a stop or the exit takes too long.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Access } from './access/access.ts';
import { openAccessFile } from './access/access-file.ts';
import { startApp } from './app.ts';
import { showDemo } from './cli/commands/demo.ts';
import { addressOf } from './cli/context.ts';
import { columnsOf, openTerminal } from './cli/output.ts';
import { openBackups } from './composition/backups.ts';
import { joinCluster, peersOf } from './composition/join-cluster.ts';
import { maxTimerMs } from './domain/durations.ts';
import { errorMessage, isOperatorError, OperatorError } from './domain/errors.ts';
import { programDir } from './files/program-files.ts';
import { listen, stopListening } from './http/listen.ts';
import { buildServer } from './http/server.ts';
import { demoFolderOf, isClustered, libraryFolders } from './settings/library-folders.ts';
import { isGiven, readSettings, SettingsError } from './settings/read-settings.ts';
import { accessTokens, secretTexts } from './settings/secrets.ts';
import { shownSettings } from './settings/shown-settings.ts';
import { unknownVariables, unknownVariableText } from './settings/unknown-variables.ts';
import { exitWithin, onStopSignal } from './stop-signal.ts';
import { hasAbandonedFiles } from './store/environment.ts';
import { damagedExitCode } from './store/look-apart.ts';
import { createLog } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { version } from './version.ts';

const usage = `readback: a self-hosted index of everything you have read

usage: npm start [-- --demo]

  --demo      use a separate data folder with demo pages, show a search, keep running
  --version   print the version
  --help      print this

Everything else is set by environment variables: see docs/settings.md.`;

/** Time for answers after a stop, ms. The jobs need the remaining time. */
const answerWithinMs = 3000;
/** Time for the exit itself after a failed flush, ms. */
const exitWithinMs = 5000;

function readArguments(): { demo: boolean } {
  try {
    const { values } = parseArgs({
      options: { demo: { type: 'boolean' }, help: { type: 'boolean' }, version: { type: 'boolean' } },
    });
    if (values.help) leave(0, usage);
    if (values.version) leave(0, version);
    return { demo: values.demo ?? false };
  } catch (error) {
    leave(2, `${errorMessage(error)}\n\n${usage}`);
  }
}

function leave(code: number, message: string): never {
  (code === 0 ? process.stdout : process.stderr).write(`${message}\n`);
  exit(code);
}

/** Node waits for all threads of its pool when it exits. A write to a store that was given up may keep one forever. */
function exit(code: number): never {
  if (hasAbandonedFiles()) exitWithin(code, exitWithinMs);
  process.exit(code);
}

/** End at once: an orderly exit waits for native threads, which sometimes crash. Acknowledged data is on disk. */
function drop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable: the process was killed');
}

function settingsOrLeave(demo: boolean) {
  try {
    const settings = readSettings(process.env);
    if (demo && settings.libraries.dir !== null) leave(2, '--demo is for one library: unset SERVICE_LIBRARIES__DIR');
    const ofDemo = { data_dir: demoFolderOf(settings.data_dir), tls: { cert_file: null, key_file: null } };
    return demo ? { ...settings, ...ofDemo } : settings;
  } catch (error) {
    if (error instanceof SettingsError) leave(2, error.message);
    throw error;
  }
}

/** A console link for new users. */
function consoleLink(access: Access, token: string, baseUrl: string, dataDir: string | null): string {
  const holder = access.holderOfToken(token);
  if (holder === null) return '';
  const { code } = access.issueCode(holder, 'session');
  // Under npm, the shell may not find `readback`.
  const readback = process.env.npm_lifecycle_event === undefined ? 'readback' : 'npm run -s readback --';
  // The settings with which a terminal finds the service and its token.
  const { SERVICE_BIND_PORT: port, SERVICE_DATA_DIR: given } = process.env;
  const variables = Object.entries({ SERVICE_BIND_PORT: port, SERVICE_DATA_DIR: dataDir ?? given })
    .filter((entry): entry is [string, string] => Boolean(entry[1]))
    .map(
      ([name, value]) => `${name}=${/[^\w./-]/.test(value) ? `'${value.replaceAll("'", String.raw`'\''`)}'` : value} `,
    );
  const command = `${variables.join('')}${readback}`;
  const next =
    dataDir === null
      ? `To add demo pages\n  ${command} demo`
      : `To search\n  ${command} search when is high water highest`;
  return `To look at it, open within a minute\n  ${baseUrl}/#code=${code}\nAfter that, another link is given by\n  ${command} open\n${next}\n`;
}

const exitCodeFor = (reason: unknown): number => (isOperatorError(reason, 'store_damaged') ? damagedExitCode : 1);

async function main(): Promise<void> {
  const { demo } = readArguments();
  const settings = settingsOrLeave(demo);
  const { observability } = settings;
  // Human-readable lines on a terminal, unless JSON is set.
  const json_logs =
    observability.json_logs && (!process.stdout.isTTY || isGiven(process.env, ['observability', 'json_logs']));
  const log = createLog({ ...observability, json_logs, secrets: secretTexts(settings.secrets) });
  for (const each of unknownVariables(process.env)) log.warn(each, unknownVariableText(each));
  const metrics = createMetrics();
  const stopTimeoutMs = Math.min(maxTimerMs, settings.stop_timeout_s * 1000);
  const { traces, otlp_endpoint } = settings.observability;
  const tracing =
    traces === 'off'
      ? null
      : (await import('./telemetry/open-telemetry.ts')).startTracing({
          traces: traces === 'otlp' ? 'otlp' : 'console',
          endpoint: otlp_endpoint,
          ...settings.secrets.otlp,
          version,
          log,
        });
  try {
    const cluster = isClustered(settings) ? await joinCluster(settings, log) : null;
    const app = await startApp({ settings, log, metrics, member: cluster });
    const { tokens, generatedAt } =
      cluster === null
        ? accessTokens({
            configured: settings.secrets.tokens,
            dataDir: settings.data_dir,
            newToken: () => randomBytes(32).toString('base64url'),
            monotonic: () => performance.now(),
          })
        : { tokens: () => settings.secrets.tokens, generatedAt: null };
    const access = new Access({
      operatorTokens: tokens,
      libraries: cluster?.served ?? new Set(libraryFolders(settings).keys()),
      file: cluster?.credentials ?? openAccessFile(settings.data_dir, log),
      log,
    });
    cluster?.keepAccess(access);
    const backups = openBackups(settings, {
      storeBytes: async (library) => (await app.askOf(library)('disk.usage', {})).store_used_bytes,
      log,
      now: Date.now,
    });
    const server = buildServer({
      ...settings,
      askOf: app.askOf,
      readiness: app.readiness,
      access,
      peers: cluster === null ? null : peersOf(settings, cluster, app.placeOf),
      consoleDir: join(programDir, 'dist', 'console'),
      log,
      metrics,
      version,
      shownSettings: (library) => shownSettings(settings, library),
      backups,
      capabilities: app.capabilities,
    });
    const { address, family, port } = await listen(server, {
      host: settings.bind_host,
      port: settings.bind_port,
    }).catch(async (error) => {
      await app.close();
      throw error;
    });
    const scheme = settings.tls.cert_file === null ? 'http' : 'https';
    const baseUrl = `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    const clientUrl = addressOf({ ...settings, bind_host: address, bind_port: port });

    let stopping = false;
    const stop = async (code: number) => {
      if (stopping) return;
      stopping = true;
      setTimeout(() => drop('stopping took too long'), stopTimeoutMs).unref();
      await stopListening(server, answerWithinMs);
      await access.close();
      await backups.close();
      await app.close();
      await cluster?.close();
      await tracing?.close();
      log.info({}, 'stopped');
      exit(code);
    };
    onStopSignal({
      signals: ['SIGTERM', 'SIGINT'],
      stop: (signal) => {
        log.info({ signal }, 'stopping');
        void stop(0);
      },
      leave: (signal) => drop(`${signal} again: leaving at once`),
    });

    if (generatedAt !== null) log.info({ token_file: generatedAt }, 'no token is configured: using the generated one');
    const kept = {
      data_dir: settings.data_dir,
      ...(settings.libraries.dir !== null && { libraries: settings.libraries.dir }),
    };
    log.info({ url: baseUrl, ...kept, version }, 'readback is ready');
    // Users who have never opened the console get a link. Later, `readback open` prints one.
    const [operator] = tokens();
    const showsLink = process.stdout.isTTY && settings.libraries.dir === null && cluster === null;
    if (showsLink && access.isUnused && !demo)
      process.stdout.write(`\n${consoleLink(access, operator.token, clientUrl, null)}\n`);
    void app.over.then((reason) => {
      log.fatal({ err: reason }, 'no library can be opened again: the process ends');
      void stop(exitCodeFor(reason));
    });
    if (demo) {
      const { stdout, stderr, env } = process;
      const columns = columnsOf(env);
      const terminal = openTerminal({ stdout, stderr, colors: true, monotonic: () => performance.now(), columns });
      await showDemo({ settings, url: baseUrl, terminal, json: false, signal: new AbortController().signal }).catch(
        (err) => log.warn({ err }, 'the demo cannot be shown'),
      );
      stdout.write('\nThe service keeps running; Ctrl-C stops it.\n');
      if (showsLink) process.stdout.write(`${consoleLink(access, operator.token, clientUrl, settings.data_dir)}\n`);
    }
  } catch (error) {
    if (error instanceof OperatorError) leave(exitCodeFor(error), error.message);
    log.fatal({ err: error }, 'the start failed');
    exit(1);
  }
}

await main();
