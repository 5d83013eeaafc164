/** How yt-dlp is run: with what, behind what, for how long, and what is left of it. A script of that name plays it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { networkName, openNetwork } from '../../src/providers/network.ts';
import { findProgram } from '../../src/providers/run-program.ts';
import { openYtDlp, type YtDlpOptions } from '../../src/providers/yt-dlp.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { until } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { fakeProgram } from './fake-program.ts';
import { FakePrograms, isAlive } from './fake-programs.ts';
import { HandClock } from './hand-clock.ts';
import { Site, say } from './small-web.ts';
import { failure, never } from './test-fetch.ts';

const asked = { signal: never, maxAhead: 1 };
const video = 'http://127.0.0.1:9/watch?v=1';

const open = (searchPath: string, tempDir: string, options: Partial<YtDlpOptions> = {}) =>
  openYtDlp({
    ...{ searchPath, tempDir, allowPrivateHosts: ['127.0.0.1'], perHostGapMs: 0, timeoutMs: 60_000 },
    ...options,
  });

/** The adapter around a script, and a folder in which the script may leave notes. */
function setUp(t: TestContext, script: string, options: Partial<YtDlpOptions> = {}) {
  const notes = temporaryFolder(t);
  const tempDir = join(temporaryFolder(t), 'runs');
  const searchPath = fakeProgram(t, 'yt-dlp', `const notes = ${JSON.stringify(notes)}; ${script}`);
  const ytDlp = open(searchPath, tempDir, options);
  return { ytDlp, notes, tempDir, searchPath };
}

const complain = (line: string) => `fs.writeSync(2, ${JSON.stringify(line)}); process.exit(1);`;

/** Asks its proxy for the page, and complains of the status. */
const askProxy = `
  const [, credentials, port] = /\\/\\/(.*)@127\\.0\\.0\\.1:(\\d+)/.exec(input);
  const headers = { 'proxy-authorization': 'Basic ' + Buffer.from(credentials).toString('base64') };
  const answer = await new Promise((tell) => require('node:http').get({ port, path: args.at(-1), headers }, tell));
  fs.writeSync(2, 'ERROR: [generic] Unable to download webpage: HTTP Error ' + answer.statusCode);
  process.exit(1);`;

test('it is given the address behind “--”, the proxy on its standard input, and nothing of this process’s environment', async (t) => {
  process.env.READBACK_TEST_CANARY = 'canary';
  process.env.https_proxy = 'http://elsewhere:1';
  t.after(() => {
    delete process.env.READBACK_TEST_CANARY;
    delete process.env.https_proxy;
  });
  const { ytDlp, tempDir } = setUp(
    t,
    `process.stdout.write(JSON.stringify({ args, input, env: process.env, cwd: process.cwd(), mode: fs.statSync('.').mode & 0o777 }));`,
  );
  const run = async (url: string) => JSON.parse(Buffer.from(await ytDlp.describe(url, asked)).toString());
  const { args, input, env, cwd, mode } = await run(video);
  assert.deepEqual(args.slice(-2), ['--', video]);
  for (const option of [
    '--ignore-config',
    '--no-cache-dir',
    '--no-playlist',
    '--dump-single-json',
    '--skip-download',
  ]) {
    assert.ok(args.includes(option), option);
  }
  const [, password] = /^--proxy http:\/\/readback:([\w-]{32})@127\.0\.0\.1:\d+\n$/.exec(input) ?? [];
  assert.ok(password !== undefined, input);
  assert.ok(!JSON.stringify([args, env]).includes(password), 'only its input says the password');
  const known =
    'HOME LANG PATH PYTHONDONTWRITEBYTECODE PYTHONPATH READBACK_MAX_FILE_BYTES READBACK_PROXY_PORT TMPDIR'.split(' ');
  assert.deepEqual(Object.keys(env).sort(), [...known, 'YTDLP_NO_PLUGINS']);
  assert.deepEqual([env.HOME, env.TMPDIR, env.PYTHONPATH], [cwd, cwd, cwd]);
  assert.ok(cwd.startsWith(tempDir) && mode === 0o700, `${cwd} ${mode.toString(8)}`);
  assert.ok(!existsSync(cwd), 'its folder is gone');
  assert.notEqual((await run(video)).input, input, 'another run has another password');
  // What an address may try to be.
  const hostile = 'http://127.0.0.1:9/--exec?x=`touch%20/tmp/x`;$(id)&--config-locations=/etc/passwd';
  assert.equal((await run(hostile)).args.at(-1), new URL(hostile).href);
  for (const url of ['file:///etc/passwd', 'ytsearch:cats', 'javascript:alert(1)']) {
    assert.equal((await failure(ytDlp.describe(url, asked))).code, 'unsupported_scheme');
  }
});

test('a list is asked for its beginning or its end', async (t) => {
  const { ytDlp } = setUp(t, 'process.stdout.write(JSON.stringify(args));');
  const items = async (from: 'start' | 'end') => {
    const args = JSON.parse(Buffer.from(await ytDlp.list(video, { ...asked, max: 7, from })).toString());
    assert.ok(args.includes('--flat-playlist') && !args.includes('--no-playlist'));
    return args[args.indexOf('--playlist-items') + 1];
  };
  assert.deepEqual([await items('start'), await items('end')], ['1:7', '-7:']);
});

test('a sound is loaded into a file, without ffmpeg, and what is left beside it goes', async (t) => {
  const { ytDlp, tempDir, notes } = setUp(
    t,
    `fs.writeFileSync(notes + '/args', JSON.stringify(args));
    fs.writeFileSync('sound.m4a', 'la la la'); fs.writeFileSync('other', 'x');`,
  );
  const request = { ...asked, path: join(notes, 'sound'), maxBytes: 1000, timeoutMs: 60_000 };
  await ytDlp.loadSound(video, request);
  assert.equal(readFileSync(request.path, 'utf8'), 'la la la');
  assert.deepEqual(readdirSync(tempDir), []);
  const args = JSON.parse(readFileSync(join(notes, 'args'), 'utf8'));
  assert.deepEqual(args.slice(-2), ['--', video]);
  assert.equal(args[args.indexOf('--ffmpeg-location') + 1], '.');
  assert.ok(!args.includes('--skip-download') && !args.includes('--ignore-no-formats-error'));

  const none = setUp(t, '');
  assert.equal((await failure(none.ytDlp.loadSound(video, request))).message, 'yt-dlp loaded no sound');
  const silent = setUp(t, complain('ERROR: [x] 1: Requested format is not available. Use --list-formats'));
  const fault = await failure(silent.ytDlp.loadSound(video, request));
  assert.deepEqual([fault.code, fault.permanent], ['no_text', true]);
});

test('the real one loads a list of pieces by itself, and none from where nobody may go', {
  skip: noYtDlp(),
}, async (t) => {
  const programs = new FakePrograms(t);
  programs.add('ffmpeg', '');
  const dir = temporaryFolder(t);
  const list = (...pieces: string[]) =>
    say(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n${pieces.map((url) => `#EXTINF:2,\n${url}\n`).join('')}#EXT-X-ENDLIST\n`, {
      'content-type': 'application/vnd.apple.mpegurl',
    });
  const key = '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="/key"';
  const secret = await Site.open(t, { '*': say('secret') }, '127.0.0.2');
  const web = await Site.open(t, {
    '/two.m3u8': list('/1.ts', '/2.ts'),
    '/away.m3u8': list('/1.ts', secret.url('/2.ts', '127.0.0.2')),
    '/locked.m3u8': list(`${key}\n/1.ts`),
    '/1.ts': say('one '),
    '/2.ts': say('two'),
  });
  const ytDlp = open(`${programs.path}:${process.env.PATH}`, join(dir, 'runs'));
  const request = { ...asked, path: join(dir, 'sound'), maxBytes: 100_000, timeoutMs: 60_000 };
  await ytDlp.loadSound(web.url('/two.m3u8'), request);
  assert.equal(readFileSync(request.path, 'utf8'), 'one two');
  rmSync(request.path);
  assert.equal((await failure(ytDlp.loadSound(web.url('/away.m3u8'), request))).code, 'blocked_address');
  await failure(ytDlp.loadSound(web.url('/locked.m3u8'), request));
  assert.ok(!existsSync(request.path));
  assert.equal(secret.connections, 0);
  assert.deepEqual(programs.notes('ffmpeg'), [], 'ffmpeg, which goes past the proxy, was not run');
});

test('one that hangs is ended with all that it has started, by the time limit and by whoever waits', async (t) => {
  const hang = `
    const child = require('node:child_process').spawn('sleep', ['600'], { stdio: 'inherit' });
    fs.writeFileSync(notes + '/pids', process.pid + ' ' + child.pid);
    setInterval(() => {}, 1000);`;
  const clock = new HandClock();
  const { ytDlp, notes, tempDir } = setUp(t, hang, { clock });
  const pids = () => readFileSync(join(notes, 'pids'), 'utf8').split(' ').map(Number);
  const isRunning = () => existsSync(join(notes, 'pids')) && pids().length === 2;
  const running = failure(ytDlp.describe(video, asked));
  await until(isRunning, 'it runs');
  await clock.advance(60_000);
  const late = await running;
  assert.deepEqual([late.code, late.message, late.permanent], ['timeout', 'timed out after 60 s', false]);
  await until(() => pids().every((pid) => !isAlive(pid)), 'both are gone');
  rmSync(join(notes, 'pids'));

  const stop = new AbortController();
  const stopped = assert.rejects(ytDlp.describe(video, { ...asked, signal: stop.signal }), { message: 'enough' });
  await until(isRunning, 'it runs');
  stop.abort(new Error('enough'));
  await stopped;
  await until(() => pids().every((pid) => !isAlive(pid)), 'both are gone');
  assert.deepEqual(readdirSync(tempDir), []);
});

test('one that floods, dies or leaves its pipes open to others is an error or an answer, and no folder stays', async (t) => {
  const flood = setUp(t, `const much = 'x'.repeat(1e6); for (;;) fs.writeSync(1, much);`);
  const tooMuch = await failure(flood.ytDlp.describe(video, asked));
  assert.deepEqual([tooMuch.message, tooMuch.permanent], ['yt-dlp wrote more than 16000000 bytes', true]);
  const grumbling = setUp(
    t,
    `for (let i = 0; i < 300; i++) fs.writeSync(2, 'x'.repeat(1e5)); process.stdout.write('{}');`,
  );
  assert.equal((await grumbling.ytDlp.describe(video, asked)).length, 2);
  const dying = setUp(t, `process.kill(process.pid, 'SIGSEGV');`);
  assert.deepEqual((await failure(dying.ytDlp.describe(video, asked))).message, 'yt-dlp failed');
  const leaving = setUp(
    t,
    `
    require('node:child_process').spawn('sleep', ['600'], { stdio: 'inherit' }).unref();
    process.stdout.write('{}');
    process.exit(0);`,
  );
  assert.equal((await leaving.ytDlp.describe(video, asked)).length, 2);
  for (const { tempDir } of [flood, grumbling, dying, leaving]) assert.deepEqual(readdirSync(tempDir), []);
});

test('what it complains of becomes a fault with a sentence, and never repeats an address', async (t) => {
  const cases: [complaint: string, code: string, message: string, permanent: boolean][] = [
    ['ERROR: Unsupported URL: http://x/', 'no_video', 'no video is at this address', true],
    ['ERROR: [generic] Unable to download webpage: HTTP Error 404: Not Found', 'http_status', 'HTTP 404', true],
    ['ERROR: [generic] Unable to download webpage: HTTP Error 403: Forbidden', 'http_status', 'HTTP 403', false],
    ['ERROR: [a] b: Unable to download API page: HTTP Error 429: Too Many Requests', 'http_status', 'HTTP 429', false],
    [
      'ERROR: [youtube] b: Sign in to confirm you’re not a bot. Use --cookies',
      'challenge',
      'the site takes this service for a robot',
      false,
    ],
    [
      'ERROR: [youtube] b: Private video. Sign in if you’ve been granted access',
      'login_wall',
      'the video is not public',
      true,
    ],
    [
      'ERROR: [youtube] b: Video unavailable. It has been removed',
      'video_unavailable',
      'the video is not available',
      true,
    ],
    ['ERROR: [x] <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] self-signed>', 'tls', 'TLS failure', false],
    // Its proxy has not come through to any site.
    ['ERROR: [x] <urlopen error timed out>', 'unreachable', 'the site does not answer', false],
    ['ERROR: [x] Remote end closed connection', 'broken_answer', 'the answer broke off', false],
    ['ERROR: [youtube] b: Premieres in 4 hours', 'video_unfinished', 'the video has not been shown yet', false],
    [
      'WARNING: first\nERROR: [x] id7: Unable to extract "secret title" from https://example.com/a?token=1 at /tmp/run-1; please report this issue on …',
      'program_failed',
      'yt-dlp failed: Unable to extract … from … at …',
      false,
    ],
    ['\u001b[31m', 'program_failed', 'yt-dlp failed', false],
  ];
  for (const [complaint, ...expected] of cases) {
    const { code, message, permanent } = await failure(setUp(t, complain(complaint)).ytDlp.describe(video, asked));
    assert.deepEqual([code, message, permanent], expected, complaint);
  }
});

test('a site that has had enough is left alone by everybody', async (t) => {
  const { ytDlp, notes } = setUp(
    t,
    `fs.appendFileSync(notes + '/runs', 'x'); ${complain('ERROR: HTTP Error 429: Too Many Requests')}`,
    {
      allowPrivateHosts: [],
    },
  );
  const first = await failure(ytDlp.describe('http://video.example/1', asked));
  assert.deepEqual([first.status, first.retryAfterMs], [429, 3_600_000]);
  const second = await failure(ytDlp.describe('http://video.example/2', asked));
  assert.equal(second.code, 'host_waits');
  assert.equal(readFileSync(join(notes, 'runs'), 'utf8'), 'x', 'it was run once');
});

test('runs of one host wait for each other', async (t) => {
  const script = `
    const held = notes + '/held';
    if (fs.existsSync(held)) fs.writeFileSync(notes + '/two at once', '');
    fs.writeFileSync(held, '');
    setTimeout(() => { fs.rmSync(held); process.stdout.write('{}'); }, 100);`;
  const { ytDlp, notes } = setUp(t, script, { allowPrivateHosts: [] });
  await Promise.all([1, 2, 3].map((n) => ytDlp.describe(`http://video.example/${n}`, { ...asked, maxAhead: 9 })));
  assert.deepEqual(readdirSync(notes), []);
});

test('what it asks the proxy for and must not have is what its failure is put down to', async (t) => {
  const site = await Site.open(t, { '*': say('secret') }, '127.0.0.2');
  const { ytDlp } = setUp(t, askProxy);
  const blocked = await failure(ytDlp.describe(site.url('/', '127.0.0.2'), asked));
  assert.deepEqual([blocked.code, blocked.permanent], ['blocked_address', true]);
  const metadata = await failure(ytDlp.describe('http://169.254.169.254/latest/', asked));
  assert.equal(metadata.code, 'blocked_address');
  assert.equal(site.connections, 0);
});

test('a name that leads inside is for good where the network answers, else it waits for that; TLS is tried as a host that is away', async (t) => {
  const clock = new HandClock();
  const { breakers } = runBreakers({ failureThreshold: 100, cooldownMs: 30_000 }, () => clock.monotonic());
  const world = { isUp: false };
  const network = openNetwork({ breaker: breakers.of(networkName), probe: async () => world.isUp, clock });
  const lookup = async () => [{ address: '10.0.0.1', family: 4 }];
  const inside = setUp(t, askProxy, { network, lookup });
  const refused = () => failure(inside.ytDlp.describe('http://video.example/1', asked));
  assert.equal((await refused()).code, 'offline');
  const certificate = complain('ERROR: [x] <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] self-signed>');
  const forged = setUp(t, certificate, { network });
  const untrusted = () => failure(forged.ytDlp.describe('http://video.example/1', asked));
  assert.equal((await untrusted()).code, 'offline');
  world.isUp = true;
  const [blocked, tls] = [await refused(), await untrusted()];
  assert.deepEqual([blocked.code, blocked.permanent], ['blocked_name', true]);
  assert.deepEqual([tls.code, tls.permanent, tls.maxReachTries], ['tls', false, 32]);
});

test('Python code that goes past the proxy is stopped', { skip: noPython() }, async (t) => {
  const site = await Site.open(t, { '*': say('secret') });
  const dir = temporaryFolder(t);
  const searchPath = `${dir}:/usr/bin:/bin`;
  const script = `#!/usr/bin/env python3
import json, socket, sys
if '--version' in sys.argv:
    print('2026.01.01')
    sys.exit()
def attempt(act):
    try:
        act()
        return 'done'
    except PermissionError:
        return 'stopped'
datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def large():
    try:
        with open('large', 'wb', buffering=0) as file:
            file.seek(100_000_000)
            file.write(b'x')
        return 'done'
    except OSError:
        return 'stopped'
print(json.dumps([
    large(),
    attempt(lambda: socket.create_connection(('127.0.0.1', ${site.port}))),
    attempt(lambda: socket.socket().connect_ex(('127.0.0.1', ${site.port}))),
    attempt(lambda: socket.getaddrinfo('example.com', 80)),
    attempt(lambda: socket.gethostbyname('example.com')),
    attempt(lambda: datagram.sendto(b'x', ('127.0.0.1', 9))),
    attempt(lambda: socket.create_connection(('127.0.0.1', int(sys.stdin.read().rsplit(':', 1)[1])))),
]))
`;
  writeFileSync(join(dir, 'yt-dlp'), script, { mode: 0o755 });
  const ytDlp = open(searchPath, join(dir, 'runs'));
  assert.deepEqual(await ytDlp.version(never), { version: '2026.01.01', guarded: true });
  const outcomes = JSON.parse(Buffer.from(await ytDlp.describe(video, asked)).toString());
  assert.deepEqual(outcomes, ['stopped', 'stopped', 'stopped', 'stopped', 'stopped', 'stopped', 'done']);
  assert.equal(site.connections, 0);
});

function noYtDlp(): string | false {
  return findProgram('yt-dlp', process.env.PATH ?? '') === null ? 'yt-dlp is not installed' : false;
}

function noPython(): string | false {
  return findProgram('python3', '/usr/local/bin:/usr/bin:/bin') === null ? 'python3 is not installed' : false;
}

test('its version is asked once; one that is missing, and one that is no yt-dlp, are told', async (t) => {
  const { ytDlp, notes } = setUp(t, `fs.appendFileSync(notes + '/runs', 'x'); process.stdout.write('2025.11.12\\n');`);
  assert.equal(ytDlp.missing(), null);
  const versions = await Promise.all([ytDlp.version(never), ytDlp.version(never)]);
  assert.deepEqual(versions, Array(2).fill({ version: '2025.11.12', guarded: false }));
  assert.equal(readFileSync(join(notes, 'runs'), 'utf8'), 'x');

  const odd = setUp(t, `process.stdout.write('I am <b>another</b> program\\n');`);
  assert.equal((await failure(odd.ytDlp.version(never))).message, 'yt-dlp does not report its version');

  const searchPath = temporaryFolder(t);
  const none = open(searchPath, join(searchPath, 'runs'), { allowPrivateHosts: [] });
  assert.equal(none.missing(), 'yt-dlp is not installed (see docs/video.md)');
  assert.equal(await none.version(never), null);
  const refused = await failure(none.describe('http://video.example/', asked));
  assert.deepEqual([refused.code, refused.permanent], ['program_missing', true]);
});
