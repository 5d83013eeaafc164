// Completes package-lock.json after `npm install`: a registry mirror may lack packages of other platforms, npm then leaves them
// out of the lock file, and npm 11 refuses to `npm ci` from it. Adds what is missing, without a checksum, for its platform only.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const added = [];
for (const [parent, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const nested = `${parent}/node_modules/${name}`;
    const place = `node_modules/${name}`;
    if (lock.packages[place] !== undefined || lock.packages[nested] !== undefined) continue;
    const words = name.split(/[/-]/);
    const os = systems.filter((system) => words.includes(system));
    const cpu = processors.filter((processor) => words.includes(processor));
    if (os.length + cpu.length === 0) throw new Error(`${name} of ${parent}: not a package for one platform`);
    lock.packages[place] = {
      version,
      ...(os.length === 0 ? {} : { os }),
      ...(cpu.length === 0 ? {} : { cpu }),
      ...(dev === true ? { dev } : {}),
      optional: true,
    };
    added.push(place);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'nothing was missing' : added.join('\n'));
