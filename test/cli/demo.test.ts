/** The demo, started as the README says: again and again, after something of it was forgotten, and by a command that knows only the usual folder. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isPublicSuffix } from '../../src/compute/web/registered-names.ts';
import { type DemoPage, demoDomain, demoSubmissions } from '../../src/domain/demo.ts';
import { dayMs } from '../../src/domain/durations.ts';
import { patientSettings, until } from '../process/service.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { Cli, CliHere } from './run-cli.ts';

const demo: DemoPage[] = JSON.parse(readFileSync(new URL('../../models/demo.json', import.meta.url), 'utf8'));
const visits = demo.reduce((sum, { days_ago }) => sum + days_ago.length, 0);

test('the demo has pages enough for every view, of a year and of several languages, on reserved hosts', () => {
  assert.ok(demo.length >= 60 && !isPublicSuffix(demoDomain));
  const languages = demo.map(({ metadata }) => metadata.lang);
  // Languages of fewer than 20 pages would be topics of their own (docs/clusters.md).
  const several = [...new Set(languages)].filter((lang) => languages.filter((each) => each === lang).length > 20);
  assert.ok(several.length >= 4);
  const now = Date.now();
  const months = new Set<number>();
  for (const page of demo) {
    assert.ok(new URL(page.url).hostname.endsWith(`.${demoDomain}`), page.url);
    const text = page.html.join(' ').replace(/<[^>]+>/g, '');
    const { length } = text.split(/\s+/);
    assert.ok(length >= 120 && length <= 400, `${page.url} has ${length} words`);
    for (const { quote } of (page.metadata.highlights ?? []) as { quote: string }[])
      assert.ok(text.includes(quote), quote);
    for (const { fetched_at } of demoSubmissions(page, now)) {
      const days = (now - Date.parse(fetched_at ?? '')) / dayMs;
      assert.ok(days > 0 && days < 365, page.url);
      months.add(Math.floor(days / 30.5));
    }
  }
  assert.equal(months.size, 12);
});

interface Listed {
  pages: { canonical_url: string; visit_count: number }[];
}

test('the demo starts again, with what was forgotten of it left out; commands find it by themselves, and delete it', async (t) => {
  const scope = newestFirst(t);
  const home = temporaryFolder(scope);
  const cli = new Cli(home, { ...patientSettings, SERVICE_BIND_PORT: '0', COLUMNS: '80' });
  const here = new CliHere(home, cli.env);
  const start = async (...args: string[]) => {
    const service = cli.spawn(args);
    scope.after(() => void service.kill('SIGKILL'));
    let said = '';
    service.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until(() => {
      assert.equal(service.exitCode, null, said);
      return said.includes('Ctrl-C stops it');
    }, 'the demo has shown a search');
    const port = new URL(/"url":"([^"]+)"/.exec(said)?.[1] ?? '').port;
    const stop = async () => {
      service.kill('SIGTERM');
      await once(service, 'close');
      assert.equal(service.exitCode, 0);
    };
    const there = { env: { SERVICE_BIND_PORT: port } };
    const listed = async () => (await here.json<Listed>(['pages', '--limit', '500'], 0, there)).pages;
    return { said, stop, there, listed };
  };
  const countOf = (pages: Listed['pages']) => pages.reduce((sum, { visit_count }) => sum + visit_count, 0);

  const first = await start('demo');
  assert.match(first.said, new RegExp(`${demo.length} of ${demo.length} pages are indexed`));
  assert.match(first.said, /1\. Why my tomatoes split/);
  for (const line of first.said.split('\n').filter((line) => !line.startsWith('{'))) assert.ok(line.length <= 80, line);
  const pages = await first.listed();
  assert.deepEqual([pages.length, countOf(pages)], [demo.length, visits]);
  const [{ canonical_url, visit_count }] = pages;
  assert.equal((await here.run(['forget', canonical_url, '--yes'], first.there)).code, 0);
  await first.stop();

  const second = await start('serve', '--demo');
  const left = await second.listed();
  assert.deepEqual([left.length, countOf(left)], [demo.length - 1, visits - visit_count]);
  const status = await here.run(['status'], second.there);
  assert.match(status.stdout, /ready/);
  assert.doesNotMatch(status.stdout, /token/);
  const other = await here.run(['status'], { env: { ...second.there.env, SERVICE_AUTH_TOKEN: 'another-token-4711' } });
  assert.match(other.stdout, /token .*the service does not accept it/);

  const remove = () => here.json(['demo', 'remove'], 0, second.there);
  assert.deepEqual(await remove(), { pages_purged: demo.length - 1 });
  assert.deepEqual(await second.listed(), []);
  assert.deepEqual(await here.json(['forget', 'rules'], 0, second.there), { entries: [] });
  const again = await here.run(['demo'], second.there);
  assert.match(again.stdout, /1\. Why my tomatoes split/);
  assert.equal((await second.listed()).length, demo.length, 'also the page that was forgotten');
  const own = join(home, 'own.txt');
  writeFileSync(own, 'A page of my own, about herons that hunt fish.');
  assert.equal((await here.run(['add', 'https://own.example/', '--text', own], second.there)).code, 0);
  assert.deepEqual(await remove(), { pages_purged: demo.length });
  assert.equal((await second.listed()).length, 1);
  const refused = await here.run(['demo'], second.there);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /demo pages need an empty library/);
  await second.stop();
});
