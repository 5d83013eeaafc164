/** The files of deploy/ name what is there: settings, commands, ports, routes, folders, and each other. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { openApiDocument } from '../../scripts/render-api.ts';
import { exitCodes } from '../../src/cli/output.ts';
import { createProgram } from '../../src/cli/program.ts';
import { readSettings, variableName } from '../../src/settings/read-settings.ts';
import { unknownVariables } from '../../src/settings/unknown-variables.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');
const all = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found]) => found);
const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;

interface ComposeFile {
  services: Record<
    string,
    {
      image: string;
      build?: { context: string; dockerfile: string };
      command?: string | string[];
      environment?: Record<string, string>;
      depends_on?: Record<string, unknown>;
      tmpfs?: string[];
      volumes?: string[];
      ports?: string[];
      read_only?: boolean;
    }
  >;
  volumes: Record<string, unknown>;
}
interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  envFrom: { secretRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: { httpGet: { path: string; port: string } };
  livenessProbe?: { httpGet: { path: string; port: string } };
  volumeMounts?: { name: string; mountPath: string }[];
  resources?: { limits: { memory: string } };
}
interface KubernetesObject {
  kind: string;
  metadata: { name: string };
  spec: {
    selector?: Record<string, unknown>;
    ports?: { port: number; targetPort?: number }[];
    serviceName?: string;
    template: { metadata?: { labels: object }; spec: { containers: Container[]; volumes?: { name: string }[] } };
  };
}

function parse<Content>(name: string): Content[] {
  return parseAllDocuments(read(name), { merge: true }).map((document) => {
    assert.deepEqual([document.errors, document.warnings], [[], []], name);
    return document.toJS() as Content;
  });
}
const [compose] = parse<ComposeFile>('compose.yaml');
const [clusterCompose] = parse<ComposeFile>('cluster-compose.yaml');
const composeFiles = { 'compose.yaml': compose, 'cluster-compose.yaml': clusterCompose };
const kubernetes = parse<KubernetesObject>('kubernetes.yaml');
const dockerfile = read('Dockerfile');
const unit = read('readback.service');

const withValues = (pairs: string) => Object.fromEntries(pairs.split(' ').map((pair) => pair.split('=')));
const image: Record<string, string> = withValues(dockerfile.match(/^ENV (.*)$/m)?.[1] ?? '');
const port = readSettings({}).bind_port;

/** What the shell, Compose and Kubernetes put in the place of names. */
const given: Record<string, string> = {
  SERVICE_CLUSTER__DATABASE_URL: 'postgresql://readback@db/readback',
  SERVICE_CLUSTER__SECRET: '0123456789abcdef',
  SERVICE_AUTH_TOKEN: '',
  POSTGRES_PASSWORD: '0123456789abcdef',
  POD: 'readback-0',
};
function filledIn(text: string): string {
  return text.replaceAll(/\$[{(](\w+)(?::[?-])?[})]/g, (_, name: string) => {
    assert.ok(name in given, `${name} is not said to be given`);
    return given[name];
  });
}
const ofKubernetes = kubernetes.filter(({ kind }) => kind === 'Job' || kind === 'StatefulSet');
const containers = ofKubernetes.flatMap(({ spec }) => spec.template.spec.containers);
const [secretOf] = all(read('kubernetes.yaml'), /create secret generic \S+ (.*)$/gm);
const secret = Object.fromEntries(
  all(secretOf, /--from-literal=(\w+)=/g).map((name) => [name, given[name] ?? assert.fail(name)]),
);

/** The environment of each process of the service. */
const environments = new Map<string, Record<string, string>>([
  ['Dockerfile', image],
  ['readback.service', withValues(unit.match(/^Environment=(.*)$/m)?.[1] ?? '')],
  ...Object.entries(composeFiles).flatMap(([file, { services }]) =>
    Object.entries(services)
      .filter(([, each]) => each.image === 'readback')
      .map(([name, { environment = {} }]): [string, Record<string, string>] => [
        `${file} ${name}`,
        { ...image, ...Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, filledIn(value)])) },
      ]),
  ),
  ...containers.map(({ name, env = [] }): [string, Record<string, string>] => [
    `kubernetes.yaml ${name}`,
    {
      ...image,
      ...secret,
      ...Object.fromEntries(env.flatMap(({ name: key, value }) => (value ? [[key, filledIn(value)]] : []))),
    },
  ]),
]);

test('every variable is a setting, also in comments, and the service accepts what they are set to', () => {
  for (const [name, env] of environments) {
    assert.deepEqual(unknownVariables(env), [], name);
    const settings = readSettings(env);
    if (name !== 'readback.service')
      assert.deepEqual([settings.bind_host, settings.bind_port], ['0.0.0.0', port], name);
    if (/cluster|kubernetes/.test(name)) {
      const { database_url, secret: shared } = settings.secrets.cluster;
      assert.deepEqual([database_url !== null, shared], [true, given.SERVICE_CLUSTER__SECRET], name);
      assert.equal(settings.cluster.address !== null, !name.endsWith('tables'), name);
    }
  }
  assert.equal(environments.size, 9);
  for (const name of ['Dockerfile', 'compose.yaml', 'cluster-compose.yaml', 'kubernetes.yaml', 'readback.service']) {
    const named = all(read(name), /\b(SERVICE_[A-Z_]+)/g);
    assert.ok(named.length > 0);
    assert.deepEqual(unknownVariables(Object.fromEntries(named.map((each) => [each, '']))), [], name);
  }
});

test('every command is one of the program, and every npm script of the package', async () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entry = dockerfile.match(/exec node \/app\/(\S+)/)?.[1];
  assert.equal(entry, manifest.bin.readback);
  assert.equal(unit.match(/^ExecStart=\/usr\/bin\/node \/opt\/readback\/(\S+)/m)?.[1], entry);
  assert.deepEqual(JSON.parse(dockerfile.match(/^ENTRYPOINT (.*)$/m)?.[1] ?? ''), ['readback']);
  const commands = [
    JSON.parse(dockerfile.match(/^CMD (.*)$/m)?.[1] ?? '') as string[],
    ...all(unit, /^ExecStart=.*main\.js (.*)$/gm).map((line) => line.split(' ')),
    ...Object.values(composeFiles).flatMap(({ services }) =>
      Object.values(services).flatMap(({ image: of, command }) =>
        of === 'readback' && command !== undefined ? [[command].flat()] : [],
      ),
    ),
    ...containers.flatMap(({ args }) => (args === undefined ? [] : [args])),
    // In comments: `exec one readback library new anna`.
    ...['compose.yaml', 'cluster-compose.yaml', 'kubernetes.yaml', 'prometheus.yaml'].flatMap((name) =>
      all(read(name), /^#.*(?:exec \S+(?: --)?|:) readback (.*)$/gm).map((line) => line.split(' ')),
    ),
  ];
  assert.equal(commands.length, 8);
  for (const command of commands) {
    const ran: string[] = [];
    const program = createProgram({
      version: '',
      serve: async () => void ran.push('serve'),
      run: async (_, name) => void ran.push(String(name)),
      helpWidth: 80,
      formats: [],
    });
    await program.parseAsync(command, { from: 'user' });
    assert.equal(ran.length, 1, command.join(' '));
  }
  const scripts = all(dockerfile + unit, /npm run ([\w:]+)/g);
  assert.deepEqual([...new Set(scripts)], ['build']);
  assert.ok('build' in manifest.scripts);
});

test('every port is the one that the service listens on, and every route is there', async () => {
  const ports = [
    ...all(dockerfile, /^EXPOSE (\d+)$/gm),
    ...Object.values(composeFiles).flatMap(({ services }) =>
      Object.values(services).flatMap(({ ports: published = [] }) =>
        published.flatMap((each) => each.split(':').slice(1)),
      ),
    ),
    ...containers.flatMap(({ ports: own = [] }) => own.map(({ containerPort }) => containerPort)),
    ...kubernetes.flatMap(({ spec: { ports: own = [] } }) => own.map(({ port: at, targetPort = at }) => targetPort)),
    // Addresses: of hosts for each other, of checks, of what is scraped.
    ...['Dockerfile', 'cluster-compose.yaml', 'kubernetes.yaml', 'prometheus.yaml'].flatMap((name) =>
      all(read(name), /(?:https?:\/\/|^ +|")[\w.$()-]*:(\d+)(?=[/"\s]|$)/gm),
    ),
  ];
  assert.ok(ports.length >= 15, String(ports.length));
  assert.deepEqual(new Set(ports.map(Number)), new Set([port]));
  const probes = containers.flatMap(({ readinessProbe, livenessProbe, ports: own = [] }) =>
    [readinessProbe, livenessProbe].flatMap((probe) => {
      if (probe === undefined) return [];
      assert.ok(own.some(({ name }) => name === probe.httpGet.port));
      return [probe.httpGet.path];
    }),
  );
  const routes = [
    ...probes,
    ...all(dockerfile, /fetch\('http:\/\/127\.0\.0\.1:\d+(\/\w+)'/g),
    ...all(read('prometheus.yaml'), /metrics_path: (\S+)/g),
    ...all(read('cluster-compose.yaml'), /health_uri (\S+)/g),
  ];
  assert.deepEqual(routes, ['/readyz', '/healthz', '/healthz', '/metrics', '/readyz']);
  const { paths } = await openApiDocument();
  for (const route of routes) assert.ok('get' in (paths[route] ?? {}), route);
});

test('every folder that the service writes is on a volume, as the rest is read-only', () => {
  const written = ['data_dir', 'backup.dir'].map((path) => image[variableName(path.split('.'))]);
  assert.deepEqual(written, JSON.parse(dockerfile.match(/^VOLUME (.*)$/m)?.[1] ?? ''));
  assert.deepEqual(dockerfile.match(/install -d .* -m 700 (.*)$/m)?.[1].split(' '), written);
  for (const [file, { services, volumes = {} }] of Object.entries(composeFiles))
    for (const [name, each] of Object.entries(services)) {
      const mounts = (each.volumes ?? []).map((mount) => mount.split(':'));
      for (const [volume] of mounts) assert.ok(volume in volumes, `${file} ${name}: ${volume}`);
      if (each.read_only !== true) continue;
      const writable = [...(each.tmpfs ?? []).map((mount) => mount.split(':')[0]), ...mounts.map(([, path]) => path)];
      assert.deepEqual(writable.sort(), ['/tmp', ...written].sort(), `${file} ${name}`);
    }
  const stateful = ofKubernetes.find(({ kind }) => kind === 'StatefulSet') ?? assert.fail();
  const { spec } = stateful.spec.template;
  const [{ volumeMounts = [], env = [] }] = spec.containers;
  const volumes = spec.volumes?.map(({ name }) => name) ?? [];
  for (const { name } of volumeMounts) assert.ok(volumes.includes(name), name);
  const mounted = volumeMounts.map(({ mountPath }) => `${mountPath}/`);
  const dataDir = env.find(({ name }) => name === variableName(['data_dir']))?.value ?? '';
  for (const path of ['/tmp', dataDir])
    assert.ok(
      mounted.some((mount) => `${path}/`.startsWith(mount)),
      path,
    );
});

test('the files of the repository that they name are there', () => {
  const names = ['Dockerfile', 'compose.yaml', 'cluster-compose.yaml', 'kubernetes.yaml', 'prometheus.yaml'];
  const named = [...names, 'readback.service'].flatMap((name) => all(read(name), /\b((?:deploy|docs)\/[\w.-]+\w)/g));
  const copied = all(dockerfile, /^COPY (?!--from)(.*) \S+$/gm).flatMap((paths) => paths.split(' '));
  const built = all(dockerfile, /^COPY --from=build \S+ \/app\/(\S+)/gm).filter(
    (path) => !['node_modules', 'dist'].includes(path),
  );
  assert.ok(copied.includes('package-lock.json'));
  for (const path of [...named, ...copied, ...built]) assert.ok(existsSync(join(root, path)), path);
});

test('hosts of a cluster know each other by the names of the same file', () => {
  const hosts = Object.entries(clusterCompose.services).filter(
    ([name, { image: of }]) => of === 'readback' && name !== 'tables',
  );
  const [proxied] = all(read('cluster-compose.yaml'), /reverse_proxy (.*) {$/gm);
  const upstreams = proxied.split(' ');
  assert.deepEqual(
    upstreams,
    hosts.map(([name]) => `${name}:${port}`),
  );
  const [set] = kubernetes.filter(({ kind }) => kind === 'StatefulSet');
  assert.equal(set.spec.serviceName, 'readback-hosts');
  const address = environments.get('kubernetes.yaml readback')?.SERVICE_CLUSTER__ADDRESS ?? '';
  assert.match(address, /^http:\/\/readback-0\.readback-hosts:/);
  for (const { spec } of kubernetes) {
    if (spec.selector === undefined) continue;
    assert.deepEqual(spec.selector.matchLabels ?? spec.selector, set.spec.template.metadata?.labels);
  }
});

test('a host of Kubernetes closes libraries before its memory reaches the limit of its container', () => {
  const limited = containers.filter(({ resources }) => resources !== undefined);
  assert.equal(limited.length, 1);
  const [{ name, resources }] = limited;
  const [, gibibytes] = /^(\d+)Gi$/.exec(resources?.limits.memory ?? '') ?? [];
  const { max_memory_mb } = readSettings(environments.get(`kubernetes.yaml ${name}`) ?? {}).cluster;
  assert.ok(max_memory_mb !== null && max_memory_mb * 1e6 < Number(gibibytes) * 2 ** 30);
});

test('systemd does not start the service again where another start is of no use', () => {
  const [codes] = all(unit, /^RestartPreventExitStatus=(.*)$/gm);
  assert.equal(codes, `${exitCodes.misuse} ${exitCodes.damaged}`);
});

test('systemd has nothing to say about the unit', {
  skip: !isInstalled('systemd-analyze') && 'systemd is not installed',
}, () => {
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', join(root, 'deploy/readback.service')], {
    encoding: 'utf8',
  });
  // Where Node is elsewhere it cannot be started, which is not the unit's fault.
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !line.includes('is not executable'));
  assert.deepEqual(said, []);
});

test('Prometheus can read the scrape configuration', {
  skip: !isInstalled('promtool') && 'promtool is not installed',
}, () => {
  const file = join(root, 'deploy/prometheus.yaml');
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', '--syntax-only', file], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});
