// Runs the protocol's own conformance suite against a service of its own: the scenarios that a tool server without sessions takes
// part in. The suite knows no tokens, so a proxy on loopback adds one. It is fetched by npx and needs Node 22 or newer.
//
//   npm run conformance:mcp
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const suite = '@modelcontextprotocol/conformance@0.1.16';
const scenarios = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];
const token = 'conformance-token';

if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error(`the conformance suite needs Node 22 or newer, this is ${process.version}`);
  process.exit(1);
}

/** The address of a service that is ready, and the process. */
async function startService(dataDir) {
  const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'main.js');
  const env = {
    ...process.env,
    SERVICE_DATA_DIR: dataDir,
    SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'conformance', token, scopes: ['read'] }]),
    SERVICE_BIND_PORT: '0',
  };
  const service = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: service.stdout })) {
    const { msg, url } = JSON.parse(line);
    if (msg !== 'readback is ready') continue;
    service.stdout.resume();
    return { service, url };
  }
  throw new Error('the service ended before it was ready');
}

/** A server that hands everything on to the service, with the token. */
async function startProxy(service) {
  const { hostname, port } = new URL(service);
  const proxy = createServer((incoming, response) => {
    const { url: path, method, headers } = incoming;
    const handed = request({ hostname, port, path, method, headers: { ...headers, authorization: `Bearer ${token}` } });
    handed.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers)));
    handed.on('error', (error) => response.destroy(error));
    incoming.pipe(handed);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return proxy;
}

/** Whether every check of the scenario passed. */
async function passes(scenario, url) {
  const output = join(home, 'results');
  const args = ['--yes', suite, 'server', '--url', url, '--scenario', scenario, '--output-dir', output];
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
  const [code] = await once(spawn('npx', args, { env, stdio: 'inherit' }), 'exit');
  return code === 0;
}

const home = mkdtempSync(join(tmpdir(), 'readback-conformance-'));
const { service, url } = await startService(join(home, 'data'));
const proxy = await startProxy(url);
try {
  for (const scenario of scenarios) {
    if (!(await passes(scenario, `http://127.0.0.1:${proxy.address().port}/mcp`))) process.exitCode = 1;
  }
} finally {
  proxy.close();
  proxy.closeAllConnections();
  service.kill('SIGTERM');
  await once(service, 'exit');
  rmSync(home, { recursive: true, force: true });
}
