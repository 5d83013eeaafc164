/** Starting, stopping and refusing to start, as the person at the terminal and the process manager see it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { newestFirst, type Scope, temporaryFolder } from '../scope.ts';
import { patientSettings, RunningService, token, until, withoutModel } from './service.ts';

const canary = 'canarytextthatnologmayhold';

function page(no: number) {
  const sentence = `The keeper of lighthouse ${no} writes down wind and water, and ${canary} as well. `;
  return { url: `https://keeper.example/${no}`, title: `Log ${no}`, body_extracted: sentence.repeat(20) };
}

/** Eight clients push pages until they are told to stop or the service is gone; gives the ids that were acknowledged. */
function push(service: RunningService) {
  const acknowledged = new Set<string>();
  let next = 0;
  let open = true;
  const client = async () => {
    while (open) {
      try {
        const { status, body } = await service.call<{ page_id: string }>('POST', '/v1/pages', page(next++));
        if (status === 202) acknowledged.add(body.page_id);
        else assert.equal(status, 503);
      } catch (error) {
        if (error instanceof assert.AssertionError && !error.message.includes('not running')) throw error;
        return; // the service is gone
      }
    }
  };
  const pushing = Promise.all(Array.from({ length: 8 }, client));
  return {
    acknowledged,
    end: async () => {
      open = false;
      await pushing;
    },
  };
}

test('SIGTERM under load stops in order, and nothing that was acknowledged is lost', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  const load = push(service);
  await until(() => load.acknowledged.size >= 50, 'pages are acknowledged');
  const exit = await service.kill('SIGTERM');
  await load.end();
  assert.deepEqual(exit, { code: 0, signal: null }, service.output.slice(-4000));
  const stopped = await checkFolder(service.dataDir);
  assert.ok(isClean(stopped), JSON.stringify(stopped));

  await service.start();
  const ids = [...load.acknowledged];
  assert.deepEqual(
    (await service.settled(ids)).filter((status) => status !== 'indexed'),
    [],
  );
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
  assert.ok(report.pages >= ids.length);
  for (const secret of [token, canary]) assert.ok(!service.output.includes(secret), 'nothing secret is in the log');
});

/** A request whose body never ends keeps a stop waiting. */
async function stuckService(t: Scope): Promise<RunningService> {
  const service = await RunningService.start(t, withoutModel);
  const { hostname, port } = new URL(service.url);
  const unfinished = request({
    hostname,
    port,
    method: 'POST',
    path: '/v1/pages',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': 1000 },
  });
  unfinished.on('error', () => {}); // it is cut off, which is what is wanted
  unfinished.write('{"url": ');
  assert.equal((await service.call('GET', '/healthz')).status, 200);
  return service;
}

test('neither a client that never finishes its request nor a signal that arrives twice keeps a service from stopping in order', async (t) => {
  const service = await stuckService(t);
  // Two different ones: of the same kind the system may deliver one for both.
  service.signal('SIGTERM');
  assert.deepEqual(await service.kill('SIGINT'), { code: 0, signal: null }, service.output.slice(-4000));
  assert.match(service.output, /"stopped"/);
});

test('a signal two seconds after the first ends a service that is still stopping', async (t) => {
  // Where this process was held up, the service has stopped before it is held.
  for (let tries = 1; ; tries++) {
    const service = await stuckService(t);
    service.signal('SIGTERM');
    await until(() => service.output.includes('"stopping"'), 'it stops');
    service.signal('SIGSTOP');
    const heldAt = performance.now();
    await until(() => performance.now() - heldAt > 2000, 'two seconds have passed');
    service.signal('SIGINT');
    const ended = await service.kill('SIGCONT');
    if (ended.code === 0 && tries < 5) continue;
    assert.deepEqual(ended, { code: null, signal: 'SIGKILL' });
    assert.match(service.output, /SIGINT again: leaving at once/);
    return;
  }
});

const noTerminal =
  spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1), which opens a terminal';

test('one Ctrl-C in a terminal stops `npm start` in order', { skip: noTerminal }, async (t) => {
  const scope = newestFirst(t);
  const dataDir = join(temporaryFolder(scope), 'data');
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SERVICE_') && name !== 'NODE_OPTIONS');
  // By "exec", as some shells that wait for a program end with 130 after a Ctrl-C, whatever the program ended with.
  const terminal = spawn('script', ['-qefc', 'exec npm start', '/dev/null'], {
    cwd: join(import.meta.dirname, '../..'),
    env: {
      ...Object.fromEntries(own),
      ...patientSettings,
      ...withoutModel,
      SERVICE_DATA_DIR: dataDir,
      SERVICE_AUTH_TOKEN: token,
      SERVICE_BIND_PORT: '0',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  scope.after(() => void terminal.kill('SIGKILL'));
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await until(() => output.includes('readback is ready'), 'it is ready');
  terminal.stdin.write('\x03');
  const [code] = await once(terminal, 'close');
  assert.match(output, /\bstopped\b/);
  assert.doesNotMatch(output, /leaving at once/);
  assert.equal(code, 0, output);
});

test('a stop that takes longer than it may ends the process', async (t) => {
  const service = await RunningService.start(t, { ...withoutModel, SERVICE_STOP_TIMEOUT_S: '0.001' });
  assert.deepEqual(await service.kill('SIGTERM'), { code: null, signal: 'SIGKILL' });
  assert.match(service.output, /stopping took too long/);
});

test('a process whose thread never ends exits all the same, and any other with its code', async (t) => {
  const pipe = join(temporaryFolder(t), 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const module = JSON.stringify(join(import.meta.dirname, '../../src/stop-signal.ts'));
  const loader = join(import.meta.dirname, '../../scripts/tsx-in-threads.mjs');
  const cases = [
    { before: '', limitMs: 3_600_000, ended: [3, null] },
    // Nobody opens the other end of the pipe.
    { before: `void open(${JSON.stringify(pipe)});`, limitMs: 500, ended: [null, 'SIGKILL'] },
  ];
  for (const { before, limitMs, ended } of cases) {
    const source = `import { open } from 'node:fs/promises';
      import { exitWithin } from ${module};
      ${before}
      setTimeout(() => exitWithin(3, ${limitMs}), 300);`;
    const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', source]);
    t.after(() => child.kill('SIGKILL'));
    assert.deepEqual(await once(child, 'close'), ended, before);
  }
});

test('a second service on the same data folder is refused with a line; a killed one leaves the lock free, and one whose folder was taken by one that did not see it ends', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  const { code, stdout, stderr } = await service.attempt();
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 1, stdout: '', stderr: `another readback (process ${service.pid}) is using ${service.dataDir}\n` },
  );
  await service.kill();
  const copy = join(service.dataDir, 'store-restored');
  mkdirSync(copy);
  writeFileSync(join(copy, 'data.mdb'), 'forgotten since');
  await service.start();
  assert.equal(existsSync(copy), false, 'the copy that a killed restore has left is deleted');

  for (const name of readdirSync(service.dataDir)) if (name.startsWith('lock.')) rmSync(join(service.dataDir, name));
  const second = RunningService.prepare(t, withoutModel);
  await second.start({ SERVICE_DATA_DIR: service.dataDir });
  const late = await service.call('POST', '/v1/pages', page(1)).catch(() => null); // it may have tried to write before
  assert.notEqual(late?.status, 202);
  assert.equal((await service.ended()).code, 1);
  assert.match(service.output, /another process has taken the data folder/);
  await second.add(page(2));
  await second.stop();
  const stopped = await checkFolder(service.dataDir);
  assert.ok(isClean(stopped), JSON.stringify(stopped));
});

test('a wrong setting ends the start with exit code 2 and a line with variable, value and rule', async (t) => {
  const service = RunningService.prepare(t);
  const { code, stdout, stderr } = await service.attempt({
    SERVICE_JOBS__MAX_ATTEMPTS: '0',
    SERVICE_BIND_PORT: 'door',
  });
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.deepEqual(stderr.trimEnd().split('\n').sort(), [
    '  SERVICE_BIND_PORT="door": must be a whole number, at least 0, at most 65535',
    '  SERVICE_JOBS__MAX_ATTEMPTS="0": must be a whole number, at least 1',
    'invalid settings:',
  ]);
});

test('an unknown argument ends the start with exit code 2 and the usage', async (t) => {
  const service = RunningService.prepare(t);
  const wrong = await service.attempt({}, ['--damo']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--damo[\s\S]*usage: npm start/);
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const told = await service.attempt({}, ['--version']);
  assert.deepEqual({ code: told.code, stdout: told.stdout }, { code: 0, stdout: `${version}\n` });
});

test('without a configured token the first start makes one that only its owner can read, and keeps it', async (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const service = RunningService.prepare(t, { ...withoutModel, SERVICE_AUTH_TOKEN: '' });
  await service.start();
  const path = join(service.dataDir, 'token');
  const made = readFileSync(path, 'utf8').trim();
  assert.match(made, /^[\w-]{43}$/);
  assert.match(service.output, /"token_file":"[^"]*token"/);
  const whoAmI = await service.call('GET', '/v1/whoami', undefined, { token: made });
  assert.deepEqual(whoAmI.body, { name: 'default', scopes: ['read', 'write'] });
  assert.equal((await service.call('GET', '/v1/whoami', undefined, { token: null })).status, 401);
  await service.call('POST', '/v1/pages', page(1), { token: made });
  await service.stop();
  for (const { path: each, mode, folder } of entriesOf(service.dataDir)) {
    assert.equal(mode.toString(8), folder ? '700' : '600', each);
  }
  await service.start();
  assert.equal(readFileSync(path, 'utf8').trim(), made);
  assert.ok(!service.output.includes(made), 'the token itself is not in the log');
});

function entriesOf(folder: string): { path: string; mode: number; folder: boolean }[] {
  return [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))].map((path) => {
    const entry = statSync(path);
    return { path, mode: entry.mode & 0o777, folder: entry.isDirectory() };
  });
}
