/** What a page's metadata says of it, whoever wrote that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bylineOf as bylineOfPage, readMinutes } from '../../../src/compute/text/byline.ts';
import type { PageMetadata } from '../../../src/domain/metadata.ts';

const labels = { type: 'html', tags: [], folders: [], is: [] };
const nothing = { author: null, published_at: null, site_name: null, declared_language: null, ...labels };
const bylineOf = (metadata: PageMetadata | null, canonical_url = 'https://a.example/') =>
  bylineOfPage({ canonical_url, metadata });

test('each fact is told in one form', () => {
  assert.deepEqual(bylineOf(null), nothing);
  assert.deepEqual(
    bylineOf({ author: ' Ada\n Lovelace ', published_at: '2024-05-01', site_name: 'A site', lang: 'en_gb', x: 1 }),
    {
      author: 'Ada Lovelace',
      published_at: Date.UTC(2024, 4, 1),
      site_name: 'A site',
      declared_language: 'en-GB',
      ...labels,
    },
  );
  const dated = (published_at: unknown) => bylineOf({ published_at }).published_at;
  assert.equal(dated('Wed, 01 May 2024 10:00:00 +0200'), Date.UTC(2024, 4, 1, 8));
  assert.deepEqual([dated('yesterday'), dated(1714550400), dated(null), dated({})], [null, null, null, null]);
});

test('authors may be persons, and several; each is told once', () => {
  const of = (author: unknown, authors?: unknown) => bylineOf({ author, authors }).author;
  assert.equal(of({ '@type': 'Person', name: 'Ada' }), 'Ada');
  assert.equal(of('Ada', [{ name: 'Ada' }, 'Charles', 7, '']), 'Ada, Charles');
  assert.equal(of(['', ' ']), null);
  assert.equal(of('a'.repeat(5000))?.length, 200);
});

test('what is no language tag is none', () => {
  const of = (lang: unknown) => bylineOf({ lang }).declared_language;
  assert.deepEqual(['de', 'pt-br', 'zh-hans-cn', 'english', 'en us', '', 'x'.repeat(99), 7].map(of), [
    'de',
    'pt-BR',
    'zh-Hans-CN',
    'english',
    null,
    null,
    null,
    null,
  ]);
});

test('reading takes whole minutes by words, by half the characters of scripts without spaces', () => {
  const minutes = [0, 1, 238, 595, 2380].map((words) => readMinutes(words, 'en'));
  assert.deepEqual(minutes, [null, 1, 1, 3, 10]);
  assert.deepEqual([readMinutes(4760, 'ja'), readMinutes(4760, 'zh-Hant'), readMinutes(4760, null)], [10, 10, 20]);
});

test('the type of a page is that of its file, recording, video or feed; tags and folders are lists of texts, states those of services', () => {
  for (const [metadata, url, type] of [
    [null, 'https://a.example/a.PDF?x=1', 'pdf'],
    [{ content_type: 'application/pdf', watch_id: 'wt_1' }, 'https://a.example/a', 'pdf'],
    [null, 'https://a.example/a?b=.pdf', 'html'],
    [{ watch_kind: 'video', watch_id: 'wt_1' }, 'https://a.example/a', 'video'],
    [{ captions: 'manual' }, 'https://a.example/a', 'video'],
    [{ transcript: 'local', duration_s: 9 }, 'https://a.example/a', 'video'],
    [null, 'https://www.youtube.com/watch?v=1', 'video'],
    [null, 'https://vimeo.com/about', 'html'],
    [{ watch_kind: 'podcast', watch_id: 'wt_1' }, 'https://a.example/a', 'audio'],
    [null, 'https://a.example/a.mp3', 'audio'],
    [{ transcript: 'published' }, 'https://a.example/a', 'audio'],
    [{ watch_id: 'wt_1' }, 'https://a.example/a', 'feed'],
  ] as const)
    assert.equal(bylineOf(metadata, url).type, type, `${url} ${JSON.stringify(metadata)}`);
  const { tags, folders } = bylineOf({ tags: ['a', { name: ' b  c ' }, 'a', 7, ''], folder: 'x/y' });
  assert.deepEqual([tags, folders], [['a', 'b c'], ['x/y']]);
  for (const [metadata, is] of [
    [{ starred: true, status: ' Archived' }, ['starred', 'archived']],
    [{ status: ['archive', 'shortlist'] }, ['archived', 'unread']],
    [{ status: 'archived, unread' }, ['archived', 'unread']],
    [{ starred: 'no', status: 'read' }, []],
    [{ status: 'newer' }, []],
  ] as const)
    assert.deepEqual(bylineOf(metadata).is, is, JSON.stringify(metadata));
});
