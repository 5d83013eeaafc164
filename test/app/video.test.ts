/** The real yt-dlp on a local web, through the whole system. Without it these tests are skipped. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Site, say } from '../providers/small-web.ts';
import { rss } from './feed-server.ts';
import { noYtDlp, VideoSystem, webVtt } from './video-system.ts';

/** One line every 20 s: six make a window of two minutes. */
const spoken = Array.from({ length: 24 }, (_, i) => `Sentence ${i} tells how the river bends around stone ${i}.`);
const boilerplate = 'Subscribe to this channel and press the bell. '.repeat(20);

function videoPage(tracks: string): { headers: Record<string, string>; body: string } {
  return {
    headers: { 'content-type': 'text/html' },
    body: `<!doctype html><html><head><title>How rivers bend</title></head><body><p>${boilerplate}</p>
<video controls><source src="/river.mp4" type="video/mp4">${tracks}</video></body></html>`,
  };
}

const track = (lang: string, src: string) => `<track kind="subtitles" srclang="${lang}" src="${src}">`;
const vtt = (lines: readonly string[]) => ({ headers: { 'content-type': 'text/vtt' }, body: webVtt(lines, 20) });

test('the real yt-dlp', { skip: noYtDlp }, async (t) => {
  const videos = await VideoSystem.start(t, true);
  const { web, system } = videos;

  await t.test('a local page with a video becomes what is said in it, with the seconds', async () => {
    web.serve('/talk', videoPage(track('fr', '/fr.vtt') + track('en', '/en.vtt')));
    web.serve('/en.vtt', vtt(spoken));
    const { page, status, page_id } = await videos.read(`${web.url}/talk`);
    assert.deepEqual([status.status, status.last_error], ['indexed', null]);
    assert.equal(page.title, 'How rivers bend');
    assert.equal(page.body_text?.replace(/\s+/g, ' '), spoken.join(' '));
    assert.deepEqual(page.metadata, { lang: 'en', captions: 'manual' });
    const chunks = await system.chunks(page_id);
    const starts = chunks.map(({ section_start_s }) => section_start_s ?? Number.NaN);
    assert.deepEqual([starts[0], starts.length > 1], [0, true], String(starts));
    // Its first sentence says where a window begins.
    for (const [i, { text }] of chunks.entries()) {
      assert.equal(/^Sentence (\d+) /.exec(text)?.[1], String(starts[i] / 20));
    }
    const { results } = await system.search('river bends around stone 23');
    assert.deepEqual(
      results.map((each) => each.page_id),
      [page_id],
    );
    assert.deepEqual(
      [web.countOf('/river.mp4'), web.countOf('/fr.vtt')],
      [0, 0],
      'nothing was loaded that is not read',
    );
    assert.deepEqual(readdirSync(join(system.dataDir, 'tmp', 'yt-dlp')), []);
  });

  await t.test('what leads to where nobody may go ends there, without a connection', async (t) => {
    const secret = await Site.open(t, { '*': say('secret') }, '127.0.0.2');
    web.serve('/to-neighbour', { status: 302, headers: { location: secret.url('/', '127.0.0.2') } });
    web.serve('/captions', videoPage(track('en', secret.url('/en.vtt', '127.0.0.2'))));
    for (const path of ['/to-neighbour', '/captions']) {
      const { status, page } = await videos.read(`${web.url}${path}`);
      assert.deepEqual(
        [status.status, status.last_error, page.body_text],
        ['dead', 'blocked address: fetch.allow_private_hosts does not list it', null],
        path,
      );
    }
    assert.equal(secret.connections, 0);
  });

  await t.test('a watch reads the videos of a list, on whatever host they are, once', async () => {
    const links = ['/one', '/two'].map((path) => `${videos.elsewhere}${path}`);
    web.serve('/list', rss(links.map((link) => ({ link, title: 'A video' }))));
    for (const link of links) {
      web.serve(new URL(link).pathname, videoPage(track('de', '/de.vtt') + track('en', '/en.vtt')));
    }
    web.serve('/de.vtt', vtt(['Der Fluss biegt sich um den Stein.']));
    const config = { max_entries: '1', caption_langs: 'de, en', source: 'rivers' };
    const watch = await videos.watch(`${web.url}/list`, config);
    const polled = await videos.poll(watch.id);
    assert.deepEqual([polled.last_status, polled.last_error, polled.last_item_count], ['ok', null, 1]);
    const taken = await system.ask('job.list', { kind: 'fetch_and_index', limit: 100 });
    const { page, status } = await videos.read(links[0]);
    assert.deepEqual([status.status, status.last_error, page.source], ['indexed', null, 'rivers']);
    assert.deepEqual([page.body_text, page.metadata?.watch_id], ['Der Fluss biegt sich um den Stein.', watch.id]);
    assert.equal((await videos.poll(watch.id)).last_item_count, 1);
    const { jobs } = await system.ask('job.list', { kind: 'fetch_and_index', limit: 100 });
    assert.equal(jobs.length, taken.jobs.length, 'known ones are left out');
  });
});
