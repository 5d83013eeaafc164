/** Models in the console: one of another provider from its registration to its searches, two side by side, and how well searches did over time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownModels } from '../../src/domain/known-models.ts';
import type { ModelInfo, ModelListResponse } from '../../src/domain/model.ts';
import { RunningService, until } from '../process/service.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { newestFirst } from '../scope.ts';
import { accessibilityFaults, overhang, results, searchBox, sharedBrowser, signedIn, skip } from './browser.ts';
import { fillLibrary, plainPages } from './library.ts';

const dim = 32;

const shared = sharedBrowser();

test('a model is registered, estimated, filled, compared, activated and evaluated by replays', { skip }, async (t) => {
  const scope = newestFirst(t);
  const provider = await startFakeProvider(scope, { dim });
  const service = await RunningService.start(scope, {
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${provider.url}/v1`,
    SERVICE_CLUSTER__MIN_PAGES: '5',
  });
  await fillLibrary(service, plainPages);
  const { page, show } = await signedIn(shared.browser, service, { allowed: /404|422|507/ });

  await show('#/models');
  await page.getByText('First judge some results').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Compare two models' }).count(), 0, 'there is one model');
  const known = page.getByRole('table', { name: 'Known models' });
  await known.waitFor();
  assert.equal(await known.locator('tbody tr').count(), knownModels.length);
  const told = known.locator('tr', { hasText: 'jina-reranker-v2' });
  await told.getByRole('link', { name: '53.17' }).waitFor();
  assert.match((await told.textContent()) ?? '', /jinareranker278 M1,024manyCC-BY-NC-4.0/);
  await page.getByRole('button', { name: 'Register a model' }).click();
  await page.getByLabel('Provider, as in the settings').fill('nobody');
  await page.getByLabel('Model', { exact: true }).fill('words-32');
  await page.getByLabel('Dimensions').fill(String(dim));
  await page.getByLabel('Max tokens').fill('512');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText(/"nobody" is unknown/).waitFor();
  await page.getByLabel('Provider, as in the settings').fill('ollama');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  const row = page.locator('.row', { hasText: 'ollama-words-32-32' });
  await row.getByText('registered').waitFor();
  await row.getByRole('button', { name: 'Delete' }).waitFor();

  await row.getByRole('button', { name: 'Compute vectors…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Compute vectors of every passage?' });
  assert.equal(await dialog.locator('dd').first().textContent(), String(plainPages.length));
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.route('**/backfill', (route) => route.fulfill({ status: 507, json: { detail: 'no room' } }), { times: 1 });
  await dialog.getByRole('button', { name: 'Begin' }).click();
  await dialog.getByRole('alert').getByText('The library is full: no room.').waitFor();
  await dialog.getByRole('button', { name: 'Begin' }).click();
  await row.getByText('ready').waitFor();

  await page.getByLabel('Query').fill('herons');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText(/of the results are shared/).waitFor();
  assert.deepEqual(await page.locator('.compare h3').allTextContents(), [
    'local-multilingual-e5-small-384',
    'ollama-words-32-32',
  ]);
  const places = await page.locator('.compare-list li .quiet').allTextContents();
  assert.ok(places.length > 0 && places.every((text) => /only here|rank \d+ there/.test(text)), String(places));
  assert.deepEqual(await accessibilityFaults(page), []);
  const judged = page.waitForResponse('**/v1/feedback');
  await page.locator('.compare-list').first().getByRole('button', { name: 'Good result' }).first().click();
  const { query_id } = (await judged).request().postDataJSON() as { query_id: string };
  assert.match(query_id, /^cp_/);

  await show('#/search?q=governor');
  await results(page).first().getByRole('button', { name: 'Good result' }).click();
  await results(page).first().locator('[aria-pressed="true"]').waitFor();

  await show('#/models');
  await row.getByRole('button', { name: 'Use for search' }).click();
  await row.getByText('active').waitFor();
  await page.getByRole('button', { name: 'Replay searches…' }).click();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  const replays = page.getByRole('table', { name: 'Replays, newest first' });
  await until(async () => (await replays.locator('tbody tr').count()) === 2, 'the replay has its report');
  const ways = await replays.locator('tbody tr td:nth-of-type(1)').allTextContents();
  assert.deepEqual(ways, ['ollama-words-32-32, score fusion', 'local-multilingual-e5-small-384, score fusion']);
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

  await page
    .locator('.row', { hasText: 'local-multilingual-e5-small-384' })
    .getByRole('button', { name: 'Use for search' })
    .click();
  await page.locator('.row', { hasText: 'local-multilingual-e5-small-384' }).getByText('active').waitFor();
  await row.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete ollama-words-32-32?' });
  assert.deepEqual(await accessibilityFaults(page), []);
  await question.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await show('#/search');
  await searchBox(page).waitFor();
});

test('the frame reports many passages that wait for vectors, not few; filling is paused', { skip }, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope);
  await service.call('POST', '/v1/models/fill', { paused: true });
  for (const page of plainPages) await service.call('POST', '/v1/pages', page);
  await until(async () => {
    const { body } = await service.call<ModelListResponse>('GET', '/v1/models');
    return body.models[0].pages_pending === plainPages.length;
  }, 'every page waits for vectors');
  const { page, show } = await signedIn(shared.browser, service);

  await show('#/models');
  const row = page.locator('.row', { hasText: 'local-multilingual-e5-small-384' });
  const waiting = `${plainPages.length} passages of ${plainPages.length} pages without vectors · paused`;
  await row.getByText(waiting).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await row.getByRole('button', { name: 'Resume' }).click();
  await row.getByText(/^Runs (natively|in WebAssembly) · every page has its vectors$/).waitFor();
  assert.equal(await row.getByRole('button', { name: /Pause|Resume/ }).count(), 0);

  let told: Partial<ModelInfo> = {};
  await page.route('**/v1/models', async (route) => {
    const { models } = (await (await route.fetch()).json()) as ModelListResponse;
    await route.fulfill({ json: { models: [{ ...models[0], ...told }] } });
  });
  await page.route('**/v1/models/fill', (route) => {
    told = { ...told, ...route.request().postDataJSON(), eta_s: null };
    return route.fulfill({ json: { models: [] } });
  });
  await show('#/search'); // where the frame alone asks for the models
  await searchBox(page).waitFor();
  await page.clock.install();
  await page.reload();
  await searchBox(page).waitFor();
  await page.clock.pauseAt(Date.now() + 1000); // time passes as the page is told
  const line = page.locator('.bar-fill');
  /** What the frame shows `afterMs` later, once it has looked at the models again. */
  const lookAgain = async (afterMs: number) => {
    const answered = page.waitForResponse('**/v1/models');
    await page.clock.runFor(afterMs);
    await (await answered).finished();
    for (let frames = 0; frames < 4; frames++) await page.clock.runFor(50);
    return (await line.locator('> span').allInnerTexts()).join();
  };
  const steps: [state: Partial<ModelInfo>, afterMs: number, shown: string][] = [
    [{ vectors_pending: 50, pages_pending: 9, eta_s: 9 }, 30_000, ''],
    [{ vectors_pending: 50, pages_pending: 9, eta_s: 9 }, 12_000, ''],
    [{ vectors_pending: 5300, pages_pending: 1240, eta_s: null }, 12_000, ''],
    [{ vectors_pending: 5300, pages_pending: 1240, eta_s: 720 }, 6000, ''],
    [{ vectors_pending: 5200, pages_pending: 1230, eta_s: 720 }, 6000, 'Vectors: 1,230 pages left, about 12 min'],
    [{ vectors_pending: 5, pages_pending: 1, eta_s: 30 }, 6000, 'Vectors: 1 page left, about 30 s'],
  ];
  for (const [state, afterMs, shown] of steps) {
    told = state;
    assert.equal(await lookAgain(afterMs), shown, JSON.stringify(state));
  }
  await page.clock.resume();
  const status = page.getByRole('status').filter({ hasText: 'Computing vectors.' });
  assert.equal(await status.count(), 1, 'a screen reader is told once, without the numbers');
  await page.setViewportSize({ width: 360, height: 740 });
  assert.equal(await line.locator('> span').innerText(), 'Vectors: 1 page left');
  assert.equal(await overhang(page), 0);
  assert.deepEqual(await accessibilityFaults(page), []);
  await line.getByRole('button', { name: 'Pause' }).click();
  await line.getByText('Filling vectors is paused', { exact: true }).waitFor();
  await line.getByRole('button', { name: 'Resume' }).click();
  await line.getByText('Vectors: 1 page left').waitFor();
  told = { vectors_pending: 0, pages_pending: 0 };
  assert.equal(await lookAgain(6000), '');
});
