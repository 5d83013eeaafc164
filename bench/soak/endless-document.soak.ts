/**
 * A PDF that would be read for minutes: its thread is ended when the processor time of a PDF is used up, its page is dead with that reason,
 * and nobody notices meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endlessPdf } from '../../test/compute/extraction/hostile-pdfs.ts';
import { smallPdf } from '../../test/compute/extraction/small-pdf.ts';
import { RunningService, until } from '../../test/process/service.ts';
import { Site, say } from '../../test/providers/small-web.ts';

const type = { 'content-type': 'application/pdf' };
/** The limits of a PDF and a machine that is busy. */
const patienceMs = 360_000;

test('a PDF that takes too long ends with its thread, other pages are taken in meanwhile, and other PDFs afterwards', {
  timeout: 480_000,
}, async (t) => {
  const site = await Site.open(t, {
    '/endless.pdf': say(endlessPdf(), type),
    '/short.pdf': say(smallPdf({ pages: [[{ text: 'The lock keeper counts the barges.', x: 72, y: 700 }]] }), type),
  });
  const service = await RunningService.start(t, {
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: JSON.stringify(['127.0.0.1']),
  });
  const add = async (body: Record<string, unknown>) => {
    const { status, body: answer } = await service.call<{ page_id: string }>('POST', '/v1/pages', body);
    assert.equal(status, 202);
    return answer.page_id;
  };
  const statusOf = async (id: string) =>
    (await service.call<{ status: string; last_error: string | null }>('GET', `/v1/pages/${id}/status`)).body;

  const endless = await add({ url: site.url('/endless.pdf') });
  await until(async () => (await statusOf(endless)).status === 'indexing', 'it is being read');
  const page = await add({ url: 'https://lock.example/a', body_extracted: 'The weir was mended in the spring.' });
  assert.deepEqual(await service.settled([page]), ['indexed']);
  assert.equal((await statusOf(endless)).status, 'indexing');
  assert.deepEqual(await service.settled([endless], patienceMs), ['dead']);
  assert.match((await statusOf(endless)).last_error ?? '', /^the PDF took longer than (?:60|300) s to read$/);
  assert.match(service.output, /a task took too long and ended with its thread/);

  const short = await add({ url: site.url('/short.pdf') });
  assert.deepEqual(await service.settled([short]), ['indexed']);
});
