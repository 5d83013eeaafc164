/** What is compiled in dist/, as people run it: each thread of a whole system would else read two hundred sources through a loader. */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');
/** A module below `src`, by its path, as it was compiled. */
export const compiled = (path: string) => import(join(root, 'dist', `${path}.js`));

/** A thread entry of the tests, compiled for this process. */
export async function compiledEntry(url: URL): Promise<URL> {
  const entry = fileURLToPath(url);
  const outfile = join(root, 'dist.tests', `${basename(entry, '.ts')}-${process.pid}.js`);
  process.once('exit', () => rmSync(outfile, { force: true }));
  const forNode = { packages: 'external', platform: 'node', format: 'esm', target: 'node20' } as const;
  await build({ ...forNode, entryPoints: [entry], outfile, bundle: true });
  return pathToFileURL(outfile);
}
