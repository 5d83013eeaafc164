import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sessionIdleMs } from '../../src/access/access.ts';
import { type AccessRecords, openAccessFile } from '../../src/access/access-file.ts';
import { temporaryFolder } from '../scope.ts';
import { holderOf, MadeAccess, MemoryFile, opened, operator, phone, signIn, tokenOf } from './made-access.ts';

const day = 24 * 3600 * 1000;

for (const [purpose, other, lifetimeMs, expires] of [
  ['session', 'pair', 60_000, '2026-01-02T03:05:05.000Z'],
  ['pair', 'session', 600_000, '2026-01-02T03:14:05.000Z'],
] as const)
  test(`a ${purpose} code works once, for its purpose, for ${lifetimeMs / 1000} seconds`, () => {
    const { made, access, by } = opened();
    const { code, expires_at } = access.issueCode(by, purpose);
    assert.equal(expires_at, expires);
    assert.equal(access.redeemCode(other, code), null);
    assert.equal(access.redeemCode(purpose, `${code}x`), null);
    assert.deepEqual(access.redeemCode(purpose, code), {
      library: 'default',
      name: 'laptop',
      issuer: by.issuer,
      scopes: ['read', 'write'],
    });
    assert.equal(access.redeemCode(purpose, code), null, 'used');
    const late = access.issueCode(by, purpose).code;
    made.nowMs += lifetimeMs - 1;
    const later = access.issueCode(by, purpose).code;
    made.nowMs += 1;
    assert.equal(access.redeemCode(purpose, late), null, 'over its time');
    assert.notEqual(access.redeemCode(purpose, later), null);
  });

test('a code to type is read however it was typed', () => {
  const { access, by } = opened();
  for (const typed of [
    (code: string) => code,
    (code: string) => code.toLowerCase(),
    (code: string) => code.replace('-', ''),
    (code: string) => ` ${code.replace('-', ' ')} `,
    (code: string) => code.replaceAll('0', 'o').replaceAll('1', 'l'),
  ]) {
    const { code } = access.issueCode(by, 'pair');
    assert.match(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
    assert.notEqual(access.redeemCode('pair', typed(code)), null);
    assert.equal(access.redeemCode('pair', typed(code)), null);
  }
});

test('after thirty wrong codes in a minute none is tried any more, not even a right one, until the minute is over', () => {
  const { made, access, by } = opened();
  for (let i = 0; i < 30; i++) assert.equal(access.redeemCode('pair', `WRNG-00${i}`), null);
  const { code } = access.issueCode(by, 'pair');
  assert.throws(() => access.redeemCode('pair', code), { code: 'rate_limited', retryAfterS: 60 });
  made.nowMs += 59_000;
  assert.throws(() => access.redeemCode('pair', code), { code: 'rate_limited', retryAfterS: 1 });
  const next = access.issueCode(by, 'pair').code;
  made.nowMs += 1_000;
  assert.notEqual(access.redeemCode('pair', next), null);
});

test('a library has twenty codes of a purpose at a time, whatever others have', () => {
  const made = new MadeAccess();
  made.tokens = [tokenOf('anna', operator), tokenOf('ben', 'token-of-ben')];
  const access = made.start();
  for (let i = 0; i < 20; i++) access.issueCode(holderOf(access, operator), 'pair');
  assert.throws(() => access.issueCode(holderOf(access, operator), 'pair'), { code: 'overloaded', retryAfterS: 600 });
  access.issueCode(holderOf(access, operator), 'session');
  access.issueCode(holderOf(access, 'token-of-ben'), 'pair');
  made.nowMs += 600_000;
  access.issueCode(holderOf(access, operator), 'pair');
});

test('what a code or a token is made with is at most what the asker may', async () => {
  const made = new MadeAccess();
  made.tokens = [tokenOf('default', operator, ['read'])];
  const access = made.start();
  const by = holderOf(access, operator);
  assert.deepEqual(access.redeemCode('session', access.issueCode(by, 'session', ['write']).code)?.scopes, ['read']);
  made.tokens = [tokenOf('default', operator)];
  const writer = holderOf(access, operator);
  assert.deepEqual(access.redeemCode('session', access.issueCode(writer, 'session', ['read']).code)?.scopes, ['read']);
  const created = { name: 'phone', scopes: ['write'], source: 'created', origin: null } as const;
  assert.deepEqual((await access.createToken(writer, created)).scopes, ['read', 'write']);
});

test('a session holds until thirty days after its last use, over restarts', async () => {
  const file = new MemoryFile();
  const made = new MadeAccess(file);
  let access = made.start();
  const secret = await signIn(access, operator);
  const restart = async () => {
    await access.close();
    file.records = file.saved;
    access = made.start();
  };
  for (let i = 0; i < 4; i++) {
    made.nowMs += sessionIdleMs - 1;
    assert.equal(access.holderOfSession(secret)?.name, 'laptop');
    await restart();
  }
  made.nowMs += sessionIdleMs;
  assert.equal(access.holderOfSession(secret), null);
  assert.deepEqual(access.sessionsFor(holderOf(access, operator)), []);
});

test('when something was last used is written every ten minutes at most, and at the end', async () => {
  const file = new MemoryFile();
  const { made, access } = opened(new MadeAccess(file));
  const secret = await signIn(access, operator);
  assert.equal(file.saves, 1);
  for (let i = 0; i < 60; i++) {
    made.nowMs += 10_000;
    access.holderOfSession(secret);
  }
  await access.close();
  assert.equal(file.saves, 2);
  made.nowMs += 1000;
  access.holderOfSession(secret);
  await access.close();
  assert.equal(file.saves, 3);
  assert.equal(file.saved?.sessions[0].last_used_at, made.nowMs);
});

test('a session and a code end with the token that they came from; a token made at runtime does not', async () => {
  const { made, access, by } = opened();
  const secret = await signIn(access, operator);
  const { code } = access.issueCode(by, 'session');
  const token = await access.createToken(by, phone);
  const onPhone = await signIn(access, token.token);
  made.tokens = [tokenOf('default', 'the operator has another one')];
  assert.equal(access.holderOfSession(secret), null);
  assert.equal(access.redeemCode('session', code), null);
  assert.equal(access.holderOfToken(token.token)?.name, 'phone');
  assert.equal(access.holderOfSession(onPhone)?.name, 'phone');
  await access.revokeToken(holderOf(access, token.token), token.id);
  assert.equal(access.holderOfToken(token.token), null);
  assert.equal(access.holderOfSession(onPhone), null);
});

test('what is revoked does not hold at once, and who listens hears of it', async () => {
  const access = new MadeAccess().start();
  const secret = await signIn(access, operator);
  const holder = access.holderOfSession(secret);
  assert.ok(holder !== null && access.holds(holder));
  let heard = 0;
  const stop = access.onRevoked(() => {
    heard++;
    assert.equal(access.holds(holder), false);
  });
  const ending = access.endSession(holder, holder.id);
  assert.equal(access.holderOfSession(secret), null, 'before it is on the disk');
  assert.equal(heard, 1);
  await ending;
  stop();
  await signIn(access, operator);
  assert.equal(heard, 1);
  await assert.rejects(access.endSession(holder, holder.id), { code: 'not_found' });
});

test('a library sees its own sessions and tokens only, and cannot end others', async () => {
  const made = new MadeAccess();
  made.tokens = [tokenOf('anna', operator), tokenOf('ben', 'token-of-ben')];
  const access = made.start();
  const [anna, ben] = [holderOf(access, operator), holderOf(access, 'token-of-ben')];
  await signIn(access, operator);
  const [session] = access.sessionsFor(anna);
  const token = await access.createToken(anna, phone);
  assert.deepEqual(access.sessionsFor(ben), []);
  const devices = access.tokensFor(ben).map(({ id, current }) => [id, current]);
  assert.deepEqual(devices, [['settings:laptop', true]]);
  await assert.rejects(access.endSession(ben, session.id), { code: 'not_found' });
  await assert.rejects(access.revokeToken(ben, token.id), { code: 'not_found' });
  assert.deepEqual(
    access.tokensFor(anna).map(({ id, source, last_used_at }) => [id, source, last_used_at]),
    [
      ['settings:laptop', 'settings', '2026-01-02T03:04:05.000Z'],
      [token.id, 'created', null],
    ],
  );
  await assert.rejects(access.revokeToken(anna, 'settings:laptop'), { code: 'conflict' });
});

test('a token of a library that is not served does not hold, and does again when it is', async () => {
  const file = new MemoryFile();
  const made = new MadeAccess(file);
  made.tokens = [tokenOf('anna', operator)];
  const access = made.start();
  const { token } = await access.createToken(holderOf(access, operator), phone);
  file.records = file.saved;
  made.tokens = [tokenOf('ben', operator)];
  const without = made.start(['ben']);
  assert.equal(without.holderOfToken(token), null);
  await signIn(without, operator);
  file.records = file.saved;
  assert.equal(made.start(['anna', 'ben']).holderOfToken(token)?.library, 'anna');
});

test('on a full disk nothing is made, and what is revoked stays revoked', async () => {
  const file = new MemoryFile();
  const { made, access, by } = opened(new MadeAccess(file));
  const secret = await signIn(access, operator);
  const { id } = await access.createToken(by, phone);
  file.isFull = true;
  const refused = { code: 'store_unavailable', message: /^tokens and sessions cannot be written: ENOSPC/ };
  await assert.rejects(access.createToken(by, phone), refused);
  await assert.rejects(signIn(access, operator), refused);
  await assert.rejects(access.revokeToken(by, id), refused);
  const [session] = access.sessionsFor(by);
  await assert.rejects(access.endSession(by, session.id), refused);
  assert.deepEqual([access.tokensFor(by).length, access.sessionsFor(by).length], [1, 0]);
  assert.equal(access.holderOfSession(secret), null);
  // Asked again, it is not told as gone: a restart would bring it back.
  await assert.rejects(access.revokeToken(by, id), refused);
  await assert.rejects(access.endSession(by, session.id), refused);
  made.nowMs += day;
  const left = await access.createToken(by, phone).catch(() => null);
  assert.equal(left, null);
  file.isFull = false;
  await assert.rejects(access.revokeToken(by, id), { code: 'not_found' });
  assert.deepEqual([file.saved?.tokens.length, file.saved?.sessions.length], [0, 0]);
  await signIn(access, operator);
  assert.deepEqual([file.saved?.tokens.length, file.saved?.sessions.length], [0, 1]);
});

test('what could not be written is written once that is possible, without another change', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const file = new MemoryFile();
  const { access, by } = opened(new MadeAccess(file));
  const { id } = await access.createToken(by, phone);
  file.isFull = true;
  await assert.rejects(access.revokeToken(by, id), { code: 'store_unavailable' });
  t.mock.timers.tick(5_000);
  await access.flush();
  assert.equal(file.saved?.tokens.length, 1);
  file.isFull = false;
  t.mock.timers.tick(5_000);
  await setImmediate();
  assert.equal(file.saved?.tokens.length, 0);
});

test('what one library could not write is not forgotten when another has written', async () => {
  let isAway = true;
  const written: (string | null)[] = [];
  const file = Object.assign(new MemoryFile(), {
    save: async (_: AccessRecords, library: string | null) => {
      if (isAway && library !== 'ben') throw new Error('PostgreSQL is away for this library');
      written.push(library);
    },
  });
  const made = new MadeAccess(file);
  made.tokens = [tokenOf('anna', operator), tokenOf('ben', 'the-token-of-ben-0123456789')];
  const access = made.start();
  const [anna, ben] = [holderOf(access, operator), holderOf(access, 'the-token-of-ben-0123456789')];
  isAway = false;
  const { id } = await access.createToken(anna, phone);
  isAway = true;
  await assert.rejects(access.revokeToken(anna, id), { code: 'store_unavailable' });
  await access.createToken(ben, phone);
  await assert.rejects(access.revokeToken(anna, id), { code: 'store_unavailable' });
  isAway = false;
  await assert.rejects(access.revokeToken(anna, id), { code: 'not_found' });
  assert.deepEqual(written, ['anna', 'ben', 'anna']);
  await access.close();
});

test('other hosts are told for how long a code holds, whatever their clocks say', async () => {
  const told: unknown[][] = [];
  const file = Object.assign(new MemoryFile(), {
    shareCode: async (...of: unknown[]) => void told.push(of),
  });
  const { access, by } = opened(new MadeAccess(file));
  await access.issueSharedCode(by, 'pair');
  const granted = told.map(([library, , validMs]) => [library, validMs]);
  assert.deepEqual(granted, [['default', 600_000]]);
});

test('a library has a hundred tokens; of more sessions the one that was not used for longest ends', async () => {
  const { made, access, by } = opened();
  for (let i = 0; i < 100; i++) await access.createToken(by, phone);
  await assert.rejects(access.createToken(by, phone), { code: 'conflict' });
  const secrets: string[] = [];
  for (let i = 0; i < 100; i++) {
    made.nowMs++;
    secrets.push(await signIn(access, operator));
  }
  made.nowMs++;
  access.holderOfSession(secrets[0]);
  await signIn(access, operator);
  assert.notEqual(access.holderOfSession(secrets[0]), null);
  assert.equal(access.holderOfSession(secrets[1]), null);
});

test('the file is its owner’s only, holds no secret, and is read by the next process', async (t) => {
  const dir = temporaryFolder(t);
  const made = new MadeAccess(openAccessFile(dir, { error: assert.fail }));
  const access = made.start();
  assert.ok(access.isUnused);
  const secret = await signIn(access, operator);
  const { token } = await access.createToken(holderOf(access, operator), {
    name: 'Browser “at home”',
    scopes: ['read'],
    source: 'paired',
    origin: 'chrome-extension://abc',
  });
  const path = join(dir, 'access.json');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const text = readFileSync(path, 'utf8');
  for (const each of [secret, token, operator]) assert.ok(!text.includes(each));
  // Of a process that was killed while it wrote.
  writeFileSync(`${path}.new`, text.slice(0, 40), { mode: 0o600 });
  made.file = openAccessFile(dir, { error: assert.fail });
  const next = made.start();
  assert.ok(!next.isUnused);
  assert.equal(next.holderOfSession(secret)?.library, 'default');
  assert.deepEqual(next.holderOfToken(token)?.scopes, ['read']);
  assert.ok(next.isPairedOrigin('chrome-extension://abc'));
  assert.ok(!next.isPairedOrigin('chrome-extension://abd'));
});

test('a file that cannot be understood lets nobody in, and is kept aside', async (t) => {
  const dir = temporaryFolder(t);
  const path = join(dir, 'access.json');
  const made = new MadeAccess(openAccessFile(dir, { error: assert.fail }));
  const secret = await signIn(made.start(), operator);
  const whole = readFileSync(path, 'utf8');
  for (const damaged of ['', whole.slice(0, -20), whole.replace('"format":1', '"format":2'), '[]', '\0\0']) {
    writeFileSync(path, damaged);
    const told: object[] = [];
    made.file = openAccessFile(dir, { error: (fields) => told.push(fields) });
    const access = made.start();
    assert.equal(access.holderOfSession(secret), null);
    assert.ok(!access.isUnused);
    assert.deepEqual(told, [{ kept: `${path}.damaged` }]);
    assert.equal(readFileSync(`${path}.damaged`, 'utf8'), damaged);
    assert.ok(!existsSync(path));
  }
});
