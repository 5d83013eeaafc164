/** The encoder as the host has it: real processes, with the tiny model of the tests and with the real one. */
import assert from 'node:assert/strict';
import childProcess from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { builtInModel } from '../../src/domain/model.ts';
import { Encoder, type EncoderOptions, EncoderUnusableError } from '../../src/encoder/encoder.ts';
import { encoderDir } from '../../src/encoder/encoder-files.ts';
import type { FromEncoder } from '../../src/encoder/encoder-messages.ts';
import { tinyEncoder, until } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';

const tiny = tinyEncoder.SERVICE_ENCODER__DIR;
const { dim } = builtInModel;

function open(t: TestContext, options: Partial<EncoderOptions> = {}) {
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };
  const encoder = new Encoder({ dim, dir: tiny, log, ...options });
  t.after(() => encoder.close());
  return { encoder, warnings };
}

const rowOf = (rows: Float32Array, at: number) => rows.subarray(at * dim, (at + 1) * dim);
const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, each, i) => sum + each * b[i], 0);
const assertUnit = (row: Float32Array, what: string) => assert.ok(Math.abs(Math.hypot(...row) - 1) < 1e-4, what);

test('a text has the same vector alone and among others, and another one as a query', async (t) => {
  const { encoder } = open(t);
  const texts = ['herons wait for fish', 'the bank raised its rates', 'herons fish'];
  const { rows, failed } = await encoder.encode(texts, 'passage');
  assert.equal(failed.size, 0);
  for (const [at, text] of texts.entries()) {
    const alone = (await encoder.encode([text], 'passage')).rows;
    assert.ok(cosine(alone, rowOf(rows, at)) > 0.9999, text);
    assertUnit(alone, text);
  }
  const asked = await encoder.query(texts[0]);
  assert.ok(asked !== null && cosine(asked, rowOf(rows, 0)) < 0.9999);
  assert.ok(cosine(asked, rowOf(rows, 2)) > cosine(asked, rowOf(rows, 1)));
});

test('whatever a text is, it has a vector and holds up nothing', async (t) => {
  const { encoder } = open(t);
  const texts = [
    ['nothing', ''],
    ['one letter', 'x'],
    ['a long text', 'word '.repeat(40_000)],
    ['a megabyte without a space', 'x'.repeat(1_000_000)],
    ['control characters', '\u0000\u0001\u001f\u007f'],
    ['half a character', 'a\ud800b\udfff'],
    ['ten thousand emoji', '😀'.repeat(10_000)],
    ['a script that nobody knows', '\u{10980}\u{10981}\u{12000}'],
    ['special tokens', '</s> <mask> <pad>'],
  ];
  const { rows, failed } = await encoder.encode(
    texts.map(([, text]) => text),
    'passage',
  );
  assert.equal(failed.size, 0);
  for (const [at, [what]] of texts.entries()) assertUnit(rowOf(rows, at), what);
});

test('a query does not wait for sentences and passages that came before it, nor sentences for passages', async (t) => {
  const { encoder } = open(t);
  const ended: string[] = [];
  const passages = encoder
    .encode(
      Array.from({ length: 100 }, (_, at) => `passage ${at} ${'with a few more words '.repeat(30)}`),
      'passage',
    )
    .then(() => ended.push('passages'));
  const sentences = encoder
    .encode(
      Array.from({ length: 20 }, (_, at) => `sentence ${at}`),
      'sentence',
    )
    .then(() => ended.push('sentences'));
  const query = encoder.query('a question').then(() => ended.push('query'));
  await Promise.all([passages, sentences, query]);
  assert.deepEqual(ended, ['query', 'sentences', 'passages']);
});

test('calls go on in another process when theirs was killed', async (t) => {
  const { encoder, warnings } = open(t);
  const texts = Array.from({ length: 40 }, (_, at) => `text ${at} ${'and so on '.repeat(20)}`);
  const all = encoder.encode(texts, 'passage');
  const { pid } = encoder.state;
  assert.ok(pid !== null);
  process.kill(pid, 'SIGKILL');
  const { rows, failed } = await all;
  assert.equal(failed.size, 0);
  assertUnit(rowOf(rows, 39), 'the last');
  assert.notEqual(encoder.state.pid, pid);
  assert.deepEqual(warnings, ['the encoder ended: restarting it']);
});

test('a process that ends while it loads is replaced once, then the encoder is given up for a while', async (t) => {
  const end = () => {
    const { pid } = encoder.state;
    if (pid !== null) process.kill(pid, 'SIGKILL');
  };
  const log = { info: () => {}, warn: () => queueMicrotask(end) };
  const encoder = new Encoder({ dim, dir: tiny, log });
  t.after(() => encoder.close());
  const all = encoder.encode(['the first', 'the second'], 'passage');
  end();
  await assert.rejects(all, /cannot be used: its process ends while loading \(SIGKILL\)/);
  await assert.rejects(encoder.query('a question'), EncoderUnusableError);
});

test('a process that the system does not start makes calls fail with the reason', async (t) => {
  const { encoder } = open(t, { dir: 'no\u0000path' });
  await assert.rejects(encoder.encode(['a text'], 'passage'), /cannot be used: it could not be started \(/);
  assert.equal(encoder.state.pid, null);
});

test('a text over which two processes ended has no vector, and those after it have theirs', async (t) => {
  const { encoder } = open(t);
  // Its first text is read for so long that the process can be ended over it.
  const long = 'word '.repeat(400_000);
  const all = encoder.encode([long, 'the second'], 'passage');
  const waiting = encoder.encode(['only waits'], 'passage');
  for (let ended = 0; ended < 2; ended++) {
    const { pid } = encoder.state;
    await encoder.query(`the process ${ended} is loaded`);
    process.kill(pid ?? 0, 'SIGKILL');
    await until(() => encoder.state.pid !== pid, 'another one is started');
  }
  const { rows, failed } = await all;
  assert.deepEqual([...failed], [[0, 'the encoder ended (SIGKILL)']]);
  assert.ok(rowOf(rows, 0).every((each) => each === 0));
  assertUnit(rowOf(rows, 1), 'the second');
  assert.equal((await waiting).failed.size, 0, 'what waited is not to blame');
});

for (const [what, spared] of [
  ['where only the native one ends, WebAssembly does them', 'webassembly'],
  ['where both end, the encoder is given up for a while', 'none'],
] as const) {
  test(`processes that end over every text speak against the runtime: ${what}`, async (t) => {
    const { fork } = childProcess;
    const runtimes: string[] = [];
    t.mock.method(childProcess, 'fork', (file: string, args: string[], options: childProcess.ForkOptions) => {
      const child = fork(file, args, options);
      runtimes.push(args[1]);
      const emit: NodeJS.EventEmitter['emit'] = child.emit.bind(child);
      // It ends over its first text, however fast it is.
      child.emit = (event: string | symbol, ...rest: unknown[]) => {
        const is = event === 'message' ? (rest[0] as FromEncoder).is : null;
        if (is === 'at' && args[1] !== spared) child.kill('SIGKILL');
        return (is === 'row' && args[1] !== spared) || emit(event, ...rest);
      };
      return child;
    });
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const { encoder } = open(t);
    const all = encoder.encode(['one', 'two', 'three', 'four'], 'passage');
    if (spared === 'none') {
      await assert.rejects(all, /cannot be used: its process ends with every text \(SIGKILL\)/);
      await assert.rejects(encoder.encode(['five'], 'passage'), EncoderUnusableError);
    } else {
      const { rows, failed } = await all;
      assert.equal(failed.size, 0);
      for (const at of [0, 1, 2, 3]) assertUnit(rowOf(rows, at), `text ${at}`);
    }
    const natives = Array(6).fill('native');
    assert.deepEqual(runtimes, [...natives, 'webassembly', ...(spared === 'none' ? ['webassembly'] : [])]);
  });
}

test('a process that hangs is ended, and its call goes on in another one', async (t) => {
  const { encoder, warnings } = open(t, { hangMs: 10_000 });
  const all = encoder.encode(['the first', 'the second'], 'passage');
  process.kill(encoder.state.pid ?? 0, 'SIGSTOP');
  assert.equal((await all).failed.size, 0);
  assert.deepEqual(warnings, ['the encoder ended: restarting it']);
});

test('a call that is left ends, and the next one is answered', async (t) => {
  const { encoder } = open(t);
  const leaving = new AbortController();
  const left = encoder.encode(Array(500).fill('word '.repeat(100)), 'passage', leaving.signal);
  leaving.abort(new Error('gone'));
  await assert.rejects(left, /gone/);
  assert.ok((await encoder.query('another')) !== null);
  assert.throws(() => leaving.signal.throwIfAborted());
});

test('its process ends when nobody asks for a while, and when it is closed', async (t) => {
  const { encoder } = open(t, { idleMs: 50 });
  await encoder.query('a question');
  await until(() => encoder.state.pid === null, 'it is gone');
  await encoder.query('another question');
  const { pid } = encoder.state;
  await encoder.close();
  assert.ok(pid === null || !existsSync(`/proc/${pid}/exe`));
  await assert.rejects(encoder.query('too late'), EncoderUnusableError);
});

test('WebAssembly gives the same vectors where the native runtime is not there', async (t) => {
  const [one, other] = [open(t).encoder, open(t, { native: false }).encoder];
  const texts = ['herons wait for fish', 'Reiher warten auf Fische'];
  const [a, b] = await Promise.all([one.encode(texts, 'passage'), other.encode(texts, 'passage')]);
  assert.equal(other.state.runtime, 'webassembly');
  for (const at of [0, 1]) assert.ok(cosine(rowOf(a.rows, at), rowOf(b.rows, at)) > 0.999);
});

const spoilt = [
  ['a model of other bytes', 'encoder.onnx', (bytes: Buffer) => bytes.fill(0, 100)],
  ['half a tokenizer', 'tokenizer.bin', (bytes: Buffer) => bytes.subarray(0, 1000)],
] as const;
for (const [what, name, spoil] of spoilt) {
  test(`${what} makes every call fail with the reason, and stops nothing else`, async (t) => {
    const dir = temporaryFolder(t);
    cpSync(tiny, dir, { recursive: true });
    writeFileSync(join(dir, name), spoil(readFileSync(join(dir, name))));
    const { encoder } = open(t, { dir });
    await assert.rejects(encoder.query('a question'), /the encoder cannot be used: ./);
    await assert.rejects(encoder.encode(['a text'], 'passage'), EncoderUnusableError);
    assert.match(encoder.state.unusable ?? '', /cannot be used/);
  });
}

test('the real model knows what texts in other languages are about, and connects to nobody', async (t) => {
  const { encoder } = open(t, { dir: encoderDir });
  const { rows } = await encoder.encode(
    ['Reiher stehen still im flachen Wasser und warten auf Fische.', 'Die Zentralbank hat den Leitzins erhöht.'],
    'passage',
  );
  const asked = await encoder.query('birds that hunt fish');
  assert.ok(asked !== null && cosine(asked, rowOf(rows, 0)) > cosine(asked, rowOf(rows, 1)) + 0.05);
  const { pid } = encoder.state;
  if (!existsSync('/proc/self/net/tcp') || pid === null) return;
  const own = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const inodes = own.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
  const network = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n').slice(1),
  );
  const connected = network.filter((line) => inodes.includes(line.trim().split(/\s+/)[9]));
  assert.deepEqual(connected, []);
});
