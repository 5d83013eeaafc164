import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildSegment } from '../../src/engine/words/build-segment.ts';
import { auditSegmentFiles } from '../../src/index/audit-files.ts';
import { TemporaryFolder } from '../store/temporary-folder.ts';

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
