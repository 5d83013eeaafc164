import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeExport } from '../../src/commands/take-export.ts';
import { visitTimes } from '../../src/compute/structures/visit-times.ts';
import { defaultTrackingParams, presetKeepParams } from '../../src/compute/web/canonical-url.ts';
import { exportLine } from '../../src/domain/export.ts';
import { instantOf } from '../../src/domain/values.ts';
import { pluck } from '../rows.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

const canonicalize = { tracking_params: defaultTrackingParams, keep_params: presetKeepParams, known_addresses: true };
const options = { at: 1, max_attempts: 3, canonicalize };

test('a rule for an address comes with the settings that made its form, and keeps the address out under others', async () => {
  await using temporary = await TemporaryStore.open();
  const canonicalized_by = [{ tracking_params: ['ref'], keep_params: {} }];
  const rule = { kind: 'rule', rule_kind: 'url', reason: null, created_at: '2026-01-01T00:00:00Z' };
  const lines = [
    { ...rule, pattern: 'https://a.example/x', canonicalized_by },
    { ...rule, pattern: 'https://a.example/y' }, // of an earlier version
  ].map((line) => exportLine.parse(JSON.parse(JSON.stringify(line))));
  await temporary.commit(takeExport(lines, options));
  const { blacklist } = temporary.reader;
  const matched = (original_url: string) =>
    blacklist.match({ original_url, canonical_url: original_url, domain: 'a.example' })?.pattern;
  assert.equal(matched('https://a.example/x?ref=1'), 'https://a.example/x');
  assert.equal(matched('https://a.example/x?id=1'), undefined);
  assert.equal(matched('https://a.example/y?ref=1'), undefined);
  assert.deepEqual(pluck(blacklist.withoutSettings(), 'pattern'), ['https://a.example/y']);
});

test('pages of an earlier export get the current address, however often it is imported', async () => {
  await using temporary = await TemporaryStore.open();
  const page = {
    ...{ kind: 'page', domain: 'm.youtube.com', title: null, body_text: 'text', content_hash: null, sections: [] },
    ...{ source: null, metadata: null, first_seen_at: '2026-01-01T00:00:00Z', last_seen_at: '2026-01-02T00:00:00Z' },
  };
  const [shared, usual] = ['https://m.youtube.com/watch?v=dQw4w9WgXcQ', 'https://www.youtube.com/watch?v=dQw4w9WgXcQ'];
  const visits = ['2026-01-02T00:00:00Z', '2026-01-01T12:00:00Z', '2026-01-01T00:00:00Z'];
  const lines = [
    exportLine.parse({ ...page, canonical_url: shared, original_url: shared, visit_count: 2 }),
    exportLine.parse({
      ...page,
      canonical_url: usual,
      original_url: usual,
      visit_count: 3,
      visits,
      visit_period_ms: 1000,
    }),
  ];
  for (const known_pages of [1, 2]) {
    const counts = await temporary.commit(takeExport(lines, options));
    assert.deepEqual([counts.new_pages, counts.known_pages], [2 - known_pages, known_pages]);
  }
  const { pages } = temporary.reader;
  const taken = pages.get(pages.numberByUrl(usual) ?? 0) ?? assert.fail('no page');
  const { canonical_url, domain, visit_count } = taken;
  assert.deepEqual([canonical_url, domain, visit_count, pages.count()], [usual, 'www.youtube.com', 3, 1]);
  assert.deepEqual([visitTimes(taken), taken.visit_period_ms], [visits.map(instantOf), 1000]);
});

test('an export adds tags and highlights to a known page, but none that was removed there', async () => {
  await using temporary = await TemporaryStore.open();
  const address = 'https://a.example/known';
  const line = (metadata: object) =>
    exportLine.parse({
      ...{ kind: 'page', canonical_url: address, original_url: address, domain: 'a.example', title: null },
      ...{ body_text: 'text', content_hash: null, sections: [], source: null, metadata, visit_count: 1 },
      ...{ first_seen_at: '2026-01-01T00:00:00Z', last_seen_at: '2026-01-01T00:00:00Z' },
    });
  const highlight = { quote: 'te', suffix: 'xt', start: 0 };
  const kept = { tags: ['kept'], removed_tags: ['gone'], note: 'mine' };
  for (const metadata of [kept, { tags: ['gone', 'new'], note: 'other', highlights: [highlight] }])
    await temporary.commit(takeExport([line(metadata)], options));
  const { pages } = temporary.reader;
  assert.deepEqual(pages.get(1)?.metadata, { ...kept, tags: ['kept', 'new'], highlights: [highlight] });
});
