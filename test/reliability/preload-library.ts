/** C libraries that stand between a process and its system, made for a test: compiled to a folder of their own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PreloadLibrary {
  /** For LD_PRELOAD. */
  library: string;
  /** Where it is, and where the test may put what it tells the library. The caller removes it. */
  dir: string;
}

/** Compile a source, or say why that cannot be done here. */
export function compilePreload(source: string): PreloadLibrary | string {
  if (process.platform !== 'linux') return 'system calls are stood in for on Linux only';
  const dir = mkdtempSync(join(tmpdir(), 'readback-preload-'));
  const library = join(dir, 'preload.so');
  const { status, error, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (status === 0) return { library, dir };
  rmSync(dir, { recursive: true });
  return `the library cannot be compiled here: ${error?.message ?? stderr.trim()}`;
}
