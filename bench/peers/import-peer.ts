/** Packages of this folder's own node_modules, which readback does not depend on; their types are what the peers' files say. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Errors: when the peers are not installed (`npm run bench -- engine --peers` installs them). */
export async function importPeer<Module>(name: string): Promise<Module> {
  const manifest = process.env.BENCH_PEERS;
  if (manifest === undefined) throw new Error('BENCH_PEERS does not name the package.json of the peers');
  return (await import(pathToFileURL(createRequire(manifest).resolve(name)).href)) as Module;
}
