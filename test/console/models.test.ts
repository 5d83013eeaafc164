/** Models in the console: one of another provider from its registration to its searches, two side by side, and how well searches did over time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownModels } from '../../src/domain/known-models.ts';
import { RunningService, until } from '../process/service.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { newestFirst } from '../scope.ts';
import { accessibilityFaults, results, searchBox, signedIn, skip, startBrowser } from './browser.ts';
import { fillLibrary, plainPages } from './library.ts';

const dim = 32;

test('a model is registered, estimated, filled, compared, activated and evaluated by replays', { skip }, async (t) => {
  const scope = newestFirst(t);
  const provider = await startFakeProvider({ dim });
  scope.after(() => provider.close());
  const service = await RunningService.start(scope, {
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${provider.url}/v1`,
    SERVICE_CLUSTER__MIN_PAGES: '5',
  });
  await fillLibrary(service, plainPages);
  const browser = await startBrowser(scope);
  const { page, faults, show } = await signedIn(browser, service, { allowed: /404|422|507/ });

  await show('#/models');
  await page.getByText('First judge some results').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Side by side' }).count(), 0, 'one model is beside nothing');
  const known = page.getByRole('table', { name: 'Known models' });
  await known.waitFor();
  assert.equal(await known.locator('tbody tr').count(), knownModels.length);
  const told = known.locator('tr', { hasText: 'jina-reranker-v2' });
  await told.getByRole('link', { name: '53.17' }).waitFor();
  assert.match((await told.textContent()) ?? '', /transformers, jinareranker278 M1,024manyCC-BY-NC-4.0/);
  await page.getByRole('button', { name: 'Register a model' }).click();
  await page.getByLabel('Provider, as it is set').fill('nobody');
  await page.getByLabel('Model', { exact: true }).fill('words-32');
  await page.getByLabel('Dimensions').fill(String(dim));
  await page.getByLabel('Tokens at most').fill('512');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText(/"nobody" is unknown/).waitFor();
  await page.getByLabel('Provider, as it is set').fill('ollama');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  const row = page.locator('.row', { hasText: 'ollama-words-32-32' });
  await row.getByText('registered').waitFor();
  await row.getByRole('button', { name: 'Delete' }).waitFor();

  await row.getByRole('button', { name: 'Make its vectors…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Make vectors of every passage?' });
  assert.equal(await dialog.locator('dd').first().textContent(), String(plainPages.length));
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.route('**/backfill', (route) => route.fulfill({ status: 507, json: { detail: 'no room' } }), { times: 1 });
  await dialog.getByRole('button', { name: 'Begin' }).click();
  await dialog.getByRole('alert').getByText('The library is full: no room.').waitFor();
  await dialog.getByRole('button', { name: 'Begin' }).click();
  await row.getByText('ready').waitFor();

  await page.getByLabel('A query of yours').fill('herons');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText(/they share/).waitFor();
  assert.deepEqual(await page.locator('.compare h3').allTextContents(), ['local-wink-1024', 'ollama-words-32-32']);
  const places = await page.locator('.compare-list li .quiet').allTextContents();
  assert.ok(places.length > 0 && places.every((text) => /only here|place \d+ there/.test(text)), String(places));
  assert.deepEqual(await accessibilityFaults(page), []);
  const judged = page.waitForResponse('**/v1/feedback');
  await page.locator('.compare-list').first().getByRole('button', { name: 'Good result' }).first().click();
  const { query_id } = (await judged).request().postDataJSON() as { query_id: string };
  assert.match(query_id, /^cp_/);

  await show('#/search?q=governor');
  await results(page).first().getByRole('button', { name: 'Good result' }).click();
  await results(page).first().locator('[aria-pressed="true"]').waitFor();

  await show('#/models');
  await row.getByRole('button', { name: 'Search by it' }).click();
  await row.getByText('active').waitFor();
  await page.getByRole('button', { name: 'Replay searches…' }).click();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  const replays = page.getByRole('table', { name: 'Replays, the newest first' });
  await until(async () => (await replays.locator('tbody tr').count()) === 2, 'the replay has its report');
  const ways = await replays.locator('tbody tr td:nth-of-type(1)').allTextContents();
  assert.deepEqual(ways, ['ollama-words-32-32, reranked', 'local-wink-1024, reranked']);
  // What a chart shows is said by the table: the same replay by the service's own words.
  const { body: jobs } = await service.call<{ jobs: { job_id: string }[] }>('GET', '/v1/jobs?kind=eval_replay');
  const { body: replay } = await service.call<{ report: { queries: number; a: { ndcg: number } } }>(
    'GET',
    `/v1/admin/eval/replay/${jobs.jobs[0].job_id}`,
  );
  const shown = await replays.locator('tbody tr').first().locator('td').allTextContents();
  assert.deepEqual(shown.slice(1, 3), [String(replay.report.queries), replay.report.a.ndcg.toFixed(3)]);
  await page.locator('.evaluation-chart canvas').waitFor();
  const legend = page.locator('.chart-legend li');
  assert.deepEqual((await legend.allTextContents()).sort(), [...ways].sort());
  await page.getByRole('button', { name: 'Recall', exact: true }).click();
  await page.getByText('Recall of each replay').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);

  await page.locator('.row', { hasText: 'local-wink-1024' }).getByRole('button', { name: 'Search by it' }).click();
  await page.locator('.row', { hasText: 'local-wink-1024' }).getByText('active').waitFor();
  await row.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete ollama-words-32-32?' });
  assert.deepEqual(await accessibilityFaults(page), []);
  await question.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await show('#/search');
  await searchBox(page).waitFor();
  assert.deepEqual(faults, []);
});
