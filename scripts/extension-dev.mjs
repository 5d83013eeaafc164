// Opens a browser with a profile of its own and the extension loaded: Chromium, or with `-- firefox` Firefox. Builds anew when a source changes;
// reload the extension on its page in the browser then. Ends with the browser.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const kind = process.argv[2] === 'firefox' ? 'firefox' : 'chromium';
const build = () => spawnSync(process.execPath, [join(root, 'scripts', 'build-if-stale.mjs')], { stdio: 'inherit' });
const names = { chromium: ['chromium', 'chromium-browser'], firefox: ['firefox-esr', 'firefox'] }[kind];
const program = process.env.BROWSER ?? names.map((name) => `/usr/bin/${name}`).find(existsSync) ?? names[0];
const profile = mkdtempSync(join(tmpdir(), 'readback-browser-'));
const extension = join(root, 'dist', 'extension', kind);

build();
const args =
  kind === 'chromium'
    ? [
        `--user-data-dir=${profile}`,
        `--load-extension=${extension}`,
        '--disable-features=DisableLoadExtensionCommandLineSwitch',
        '--no-first-run',
      ]
    : ['--profile', profile, '--no-remote', 'about:debugging#/runtime/this-firefox'];
if (kind === 'firefox') console.log(`load the temporary add-on ${join(extension, 'manifest.json')}`);
const browser = spawn(program, args, { stdio: 'ignore' });
browser.on('error', (error) => {
  console.error(`${program} could not be started (${error.message}); say which with BROWSER=/path`);
  process.exitCode = 1;
});
let waiting;
watch(join(root, 'extension'), { recursive: true }, () => {
  clearTimeout(waiting);
  waiting = setTimeout(build, 300);
});
browser.on('close', () => {
  rmSync(profile, { recursive: true, force: true });
  process.exit();
});
