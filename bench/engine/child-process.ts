/**
 * The bench's other processes: its own sources compiled to plain JavaScript, so that engines run as the service does (no loader in
 * any thread), the peers installed, and one measurement per process.
 */
import { spawn } from 'node:child_process';
import { rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const compiled = join(root, 'node_modules', '.cache', 'readback-bench');
const peers = join(root, 'bench', 'peers');

/** Compile src and the bench. Type errors elsewhere are told and do not stop it. */
export async function compileBench(): Promise<void> {
  await rm(compiled, { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { code, output } = await run(process.execPath, [
    tsc,
    '-p',
    join(root, 'bench', 'engine', 'tsconfig.build.json'),
  ]);
  if (code !== 0) console.error(`bench: compiled with complaints\n${output}`);
  await writeFile(join(compiled, 'package.json'), '{"type":"module"}\n');
  // The program finds its files next to its package.json.
  const kernel = join('models', 'dots.wasm');
  await symlink(join(root, kernel), join(compiled, kernel));
}

/** Install the peers as their lockfile says, unless they are. Gives the path of their own Node. */
export async function installPeers(): Promise<string> {
  if ((await changedAt('node_modules/.package-lock.json')) < (await changedAt('package-lock.json'))) {
    const { code, output } = await run('npm', ['ci', '--omit=optional', '--no-audit', '--no-fund'], peers);
    if (code !== 0) throw new Error(`npm ci in bench/peers failed\n${output}`);
  }
  return join(peers, 'node_modules', 'node', 'bin', 'node');
}

/** 0 for a file that is not there. */
async function changedAt(file: string): Promise<number> {
  try {
    return (await stat(join(peers, file))).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** One measurement (measure.ts). Errors: those of the process, with what it said. */
export async function runProcess(
  node: string,
  module: string,
  dataDir: string,
  indexDir: string,
  phase: 'build' | 'restart',
): Promise<object> {
  const measure = join(compiled, 'bench', 'engine', 'measure.js');
  const { code, output } = await run(node, [
    '--expose-gc',
    '--max-old-space-size=8192',
    measure,
    join(compiled, module),
    dataDir,
    indexDir,
    phase,
  ]);
  if (code !== 0) throw new Error(`${module} ${phase} ended with ${code}\n${output}`);
  const lines = output.trim().split('\n');
  return JSON.parse(lines[lines.length - 1]) as object;
}

function run(command: string, argv: readonly string[], cwd = root): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, argv, {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
      // LanceDB warns on every query, which would be measured too.
      env: { ...process.env, BENCH_PEERS: join(peers, 'package.json'), LANCEDB_LOG: 'error' },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
