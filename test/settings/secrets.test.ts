import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { accessTokens } from '../../src/settings/secrets.ts';
import { temporaryFolder } from '../scope.ts';

test('a token that is made while the service runs holds from then on, and the one before no longer', (t) => {
  const dataDir = temporaryFolder(t);
  let time = 0;
  const options = { configured: [], dataDir, newToken: () => 'first', monotonic: () => time };
  const { tokens, generatedAt } = accessTokens(options);
  assert.equal(generatedAt, join(dataDir, 'token'));
  const held = () => tokens().map(({ token }) => token);
  assert.deepEqual(held(), ['first']);
  writeFileSync(join(dataDir, 'token'), 'second\n');
  assert.deepEqual(held(), ['first'], 'the file is not looked at with each request');
  time += 100;
  assert.deepEqual(held(), ['second']);
  const before = tokens();
  time += 100;
  assert.equal(tokens(), before, 'the same list as long as nothing has changed');
  for (const change of [() => writeFileSync(join(dataDir, 'token'), ''), () => rmSync(join(dataDir, 'token'))]) {
    change();
    time += 100;
    assert.deepEqual(held(), ['second'], 'nobody is locked out by a file that is gone or being written');
  }
});

test('tokens that are configured hold, whatever the file says', (t) => {
  const dataDir = temporaryFolder(t);
  writeFileSync(join(dataDir, 'token'), 'kept');
  const configured = [{ name: 'home', library: 'default', token: 'given', scopes: ['write' as const] }];
  const { tokens, generatedAt } = accessTokens({ configured, dataDir, newToken: () => 'new', monotonic: () => 0 });
  assert.deepEqual([tokens(), generatedAt], [configured, null]);
});
