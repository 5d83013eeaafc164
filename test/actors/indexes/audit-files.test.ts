import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditSegmentFiles, auditSpaceFiles } from '../../../src/actors/indexes/audit-files.ts';
import { saveRows } from '../../../src/engine/vectors/row-tasks.ts';
import { VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { buildSegment } from '../../engine/words/small-corpus.ts';
import { TemporaryFolder } from '../../store/temporary-folder.ts';

const stored = { storeId: 'st', labels: [1, 2], labelEnd: 3 };

function writeFolder(dir: string, version?: number): void {
  const { buffer } = buildSegment([1, 2].map((no) => ({ title: [], section: [], body: [`word${no}`] })));
  const header = new Uint32Array(buffer, 0, 2);
  header[1] = version ?? header[1];
  const content = Buffer.from(new Uint8Array(buffer));
  writeFileSync(join(dir, '1.segment'), content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const segments = [{ file: '1.segment', docs: 2, bytes: content.length, sha256 }];
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ format: 1, store_id: 'st', generation: 1, segments }));
}

test('a segment of another version holds nothing, which is no fault: a start makes it anew', async () => {
  await using folder = await TemporaryFolder.make();
  writeFolder(folder.path, 4);
  assert.deepEqual(await auditSegmentFiles(folder.path, stored), { findings: [], missing: [1, 2], obsolete: [] });
});

test('a manifest that cannot be read is a finding', async () => {
  await using folder = await TemporaryFolder.make();
  for (const text of ['', '{"store_id":', '{"segments":[]}', 'null']) {
    writeFileSync(join(folder.path, 'manifest.json'), text);
    const { findings } = await auditSegmentFiles(folder.path, stored);
    assert.equal(findings.length, 1, text);
    assert.match(findings[0], /^manifest.json cannot be read: /, text);
  }
});

/** A space with vectors of labels 2 and 7, of which 7 is stored no more. */
function writeSpace(dir: string, changes: object = {}): void {
  const rows = VectorRows.create(2);
  for (const label of [2, 7]) rows.append(label, Float32Array.of(1, label), 0);
  const path = join(dir, '1.rows');
  rmSync(path, { force: true });
  const sha256 = saveRows({ shared: rows.shared, path });
  const file = { name: '1.rows', bytes: statSync(path).size, sha256 };
  const manifest = { format: 4, generation: 1, store_id: 'st', model_id: 'm', dim: 2, rows: file, ...changes };
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest));
}

test('the rows of a space are compared with the store; those of an earlier version are none, which a start makes anew', async () => {
  await using folder = await TemporaryFolder.make();
  const { path: dir } = folder;
  const all = { missing: [1, 2], obsolete: [] };
  const some = { missing: [1], obsolete: [7] };
  const damaged = { rows: { name: '1.rows', bytes: 10, sha256: 'a'.repeat(64) } };
  const cases: [what: string, write: () => void, findings: RegExp[], labels: object, seen: number[]][] = [
    ['no manifest', () => {}, [], all, []],
    ['whole', () => writeSpace(dir), [], some, [2, 7]],
    ['of another store', () => writeSpace(dir, { store_id: 'x' }), [/to another store, x/], some, [2, 7]],
    ['never saved', () => writeSpace(dir, { rows: null }), [], all, []],
    ['damaged', () => writeSpace(dir, damaged), [/^1\.rows: another size/], all, []],
    ['of an earlier version', () => writeSpace(dir, { format: 3, shards: [] }), [], all, []],
    ['of a later version', () => writeSpace(dir, { format: 5 }), [/^manifest\.json cannot be read: /], all, []],
  ];
  for (const [what, write, expected, labels, expectedSeen] of cases) {
    write();
    const seen: number[] = [];
    const { findings, ...compared } = await auditSpaceFiles(dir, { ...stored, labelEnd: 9 }, (rows) => {
      seen.push(...rows.liveLabels());
      return [];
    });
    assert.deepEqual([compared, seen, findings.length], [labels, expectedSeen, expected.length], what);
    for (const [at, finding] of expected.entries()) assert.match(findings[at], finding, what);
  }
  writeSpace(dir);
  const { findings } = await auditSpaceFiles(dir, { ...stored, labelEnd: 9 }, () => ['a fault']);
  assert.deepEqual(findings, ['a fault'], 'what the caller finds in the rows');
});
