import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeExport } from '../../src/commands/take-export.ts';
import { exportLine } from '../../src/domain/export.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

test('a rule for an address comes with the settings that made its form, and keeps the address out under others', async () => {
  await using temporary = await TemporaryStore.open();
  const canonicalized_by = [{ tracking_params: ['ref'], keep_params: {} }];
  const rule = { kind: 'rule', rule_kind: 'url', reason: null, created_at: '2026-01-01T00:00:00Z' };
  const lines = [
    { ...rule, pattern: 'https://a.example/x', canonicalized_by },
    { ...rule, pattern: 'https://a.example/y' }, // of an earlier version
  ].map((line) => exportLine.parse(JSON.parse(JSON.stringify(line))));
  await temporary.commit(takeExport(lines, { at: 1, max_attempts: 3 }));
  const { blacklist } = temporary.store.reader;
  const matched = (original_url: string) =>
    blacklist.match({ original_url, canonical_url: original_url, domain: 'a.example' })?.pattern;
  assert.equal(matched('https://a.example/x?ref=1'), 'https://a.example/x');
  assert.equal(matched('https://a.example/x?id=1'), undefined);
  assert.equal(matched('https://a.example/y?ref=1'), undefined);
  assert.deepEqual(
    blacklist.withoutSettings().map(({ pattern }) => pattern),
    ['https://a.example/y'],
  );
});
