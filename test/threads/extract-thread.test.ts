import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { extractHtml } from '../../src/compute/extraction/extract-html.ts';
import { programFile } from '../../src/files/program-files.ts';
import { openThreadPool } from '../../src/threads/thread-pool.ts';

const pool = openThreadPool<typeof import('../../src/threads/extract-thread.ts')>({
  entry: programFile('threads/extract-thread'),
  name: 'extract',
  threads: 1,
  maxQueue: 10,
});
after(() => pool.close());

test('the task gives on its thread what extraction gives', async () => {
  const page = { html: '<html lang="de"><title>T</title><body><h2>Eins</h2><p>Text</p>', url: 'https://example.com/' };
  const extracted = await pool.run('extract', page);
  assert.deepEqual(extracted, extractHtml(page.html, page.url));
  assert.equal(extracted.text, 'Eins\n\nText');
});

test('a page over the limits is refused with a code and message that cross the thread border', async () => {
  const page = { html: '<div>'.repeat(10_000), url: 'https://example.com/' };
  await assert.rejects(pool.run('extract', page), {
    cause: { code: 'unreadable' },
    message: 'page leaves over 5000 elements open: https://example.com/',
  });
});
