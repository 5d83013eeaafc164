/** The demo, started as the README says: again and again, after something of it was forgotten, and by a command that knows only the usual folder. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { patientSettings, until } from '../process/service.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { Cli, CliHere } from './run-cli.ts';

test('the demo starts again, with what was forgotten of it left out; commands find it by themselves', async (t) => {
  const scope = newestFirst(t);
  const home = temporaryFolder(scope);
  const settings = { ...patientSettings, SERVICE_BIND_PORT: '0', COLUMNS: '80' };
  const [demoCli, cli] = [new Cli(home, settings), new CliHere(home, settings)];
  const start = async () => {
    const demo = demoCli.spawn(['serve', '--demo']);
    scope.after(() => void demo.kill('SIGKILL'));
    let said = '';
    demo.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until(() => {
      assert.equal(demo.exitCode, null, said);
      return said.includes('Ctrl-C stops it');
    }, 'the demo has shown a search');
    const port = new URL(/"url":"([^"]+)"/.exec(said)?.[1] ?? '').port;
    const stop = async () => {
      demo.kill('SIGTERM');
      await once(demo, 'close');
      assert.equal(demo.exitCode, 0);
    };
    return { said, stop, there: { env: { SERVICE_BIND_PORT: port } } };
  };
  const first = await start();
  assert.match(first.said, /added \d sample pages/);
  for (const line of first.said.split('\n').filter((line) => !line.startsWith('{') && !/Bearer|curl/.test(line)))
    assert.ok(line.length <= 80, line);
  const { pages } = await cli.json<{ pages: { canonical_url: string; visit_count: number }[] }>(
    ['pages'],
    0,
    first.there,
  );
  assert.ok(pages.length > 1);
  const [{ canonical_url }] = pages;
  assert.equal((await cli.run(['forget', canonical_url, '--yes'], first.there)).code, 0);
  await first.stop();

  const second = await start();
  const left = await cli.json<typeof first & { pages: typeof pages }>(['pages'], 0, second.there);
  assert.equal(left.pages.length, pages.length - 1);
  assert.ok(left.pages.every(({ visit_count }) => visit_count === 1));
  const status = await cli.run(['status'], second.there);
  assert.match(status.stdout, /ready/);
  assert.doesNotMatch(status.stdout, /token/);
  const other = await cli.run(['status'], { env: { ...second.there.env, SERVICE_AUTH_TOKEN: 'another-token-4711' } });
  assert.match(other.stdout, /token .*the service does not accept it/);
  await second.stop();
});
