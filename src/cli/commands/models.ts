import { setTimeout as delay } from 'node:timers/promises';
import { dimProblem, knownModels } from '../../domain/known-models.ts';
import type {
  BackfillEstimateResponse,
  ModelBackfillResponse,
  ModelInfo,
  ModelListResponse,
} from '../../domain/model.ts';
import { type Context, clientOf, get, post, tell } from '../context.ts';
import { bar, CliError, counted, durationText, type ExitCode, exitCodes, fitted, plain, table } from '../output.ts';

export interface AddModelArguments {
  provider?: string;
  dim?: number;
  maxTokens?: number;
}

const lookEveryMs = 500;
const pathOf = (id: string) => `/v1/models/${encodeURIComponent(id)}`;

export async function modelsCommand(context: Context): Promise<ExitCode> {
  const found = await get<ModelListResponse>(context, '/v1/models');
  return tell(context, found, (terminal) => {
    const rows = found.models.map((model) => [
      model.is_active ? '*' : ' ',
      model.is_active ? 'active' : model.status,
      `${model.dim} dimensions`,
      [...pendingText(model), ...(model.runtime == null ? [] : [plain(model.runtime, 200)])].join(', '),
      plain(model.id, 200),
    ]);
    // Not shortened: models differ at the end of their names.
    for (const line of table(rows)) terminal.say(line);
  });
}

function pendingText({ vectors_pending = 0, paused = false }: ModelInfo): string[] {
  if (vectors_pending === 0) return [];
  return [`${counted(vectors_pending, 'passage')} without vectors`, ...(paused ? ['paused'] : [])];
}

export function knownModelsCommand(context: Context): ExitCode {
  const rows = knownModels.map(({ name, does, parameters_millions, dim, memory_mb, languages, score }) => [
    name,
    parameters_millions === null ? 'by API' : `${parameters_millions} M`,
    does === 'reranking' ? 'reranker' : `${dim} d`,
    memory_mb === null ? '-' : `${memory_mb} MB`,
    score === null ? '-' : String(score.value),
    languages,
  ]);
  const [head, ...lines] = table([['name', 'size', 'vectors', 'of 100,000', 'nDCG@10', 'languages'], ...rows]);
  return tell(context, { models: knownModels }, (terminal) => {
    terminal.say(terminal.style('dim', fitted(head, terminal.columns)));
    for (const line of lines) terminal.line(line);
    terminal.note('nDCG@10 as published, of MTEB or BEIR in English; --json has all facts');
  });
}

export async function addModelCommand(context: Context, name: string, args: AddModelArguments): Promise<ExitCode> {
  const model = await post<ModelInfo>(context, '/v1/models', registrationOf(name, args));
  return tell(context, model, (terminal) => {
    terminal.say(`registered ${plain(model.id, 200)}, without vectors`);
    terminal.note(`readback model fill ${plain(model.id, 200)} computes them`);
  });
}

function registrationOf(name: string, { provider, dim, maxTokens: tokens }: AddModelArguments) {
  const model = knownModels.find((each) => each.name === name);
  if (model === undefined) {
    if (provider === undefined || dim === undefined || tokens === undefined)
      throw new CliError(
        exitCodes.misuse,
        `unknown model ${name} (readback model list --known): pass --provider, --dim and --max-tokens`,
      );
    return { provider, model_name: name, dim, max_input_tokens: tokens };
  }
  if (model.dim === null) throw new CliError(exitCodes.misuse, `${name} is a reranker: set it in reranker.*`);
  const [simplest] = Object.keys(model.names);
  const chosen = provider ?? simplest;
  const model_name = model.names[chosen];
  if (model_name === undefined)
    throw new CliError(exitCodes.misuse, `${name} is available from ${Object.keys(model.names).join(', ')}`);
  const problem = dim === undefined ? null : dimProblem(model_name, dim);
  if (problem !== null) throw new CliError(exitCodes.misuse, problem);
  return { provider: chosen, model_name, dim: dim ?? model.dim, max_input_tokens: tokens ?? model.max_input_tokens };
}

/** Compute a model's vectors after showing the cost. An interrupted run resumes. */
export async function fillModelCommand(context: Context, id: string, args: { yes?: boolean }): Promise<ExitCode> {
  const path = `${pathOf(id)}/backfill`;
  if (args.yes !== true) {
    const estimate = await post<BackfillEstimateResponse>(context, path, {});
    return tell(context, estimate, (terminal) => {
      for (const line of estimateLines(estimate)) terminal.say(line);
      terminal.note('not started: pass --yes to start');
    });
  }
  await post(context, path, { confirm: true });
  const progress = await followBackfill(context, id);
  const { status, embedded_chunks: part, last_error } = progress;
  tell(context, progress, ({ say, note }) => {
    if (status === 'complete') say(`${plain(id, 200)} has vectors of ${counted(part, 'passage')}`);
    else note(`failed: ${plain(last_error ?? 'unknown reason', 500)}`);
  });
  return status === 'complete' ? exitCodes.done : exitCodes.failed;
}

function estimateLines(estimate: BackfillEstimateResponse): string[] {
  const { n_chunks, total_tokens, est_cost_usd, est_duration_s } = estimate;
  return [
    `${counted(n_chunks, 'passage')}, ${counted(total_tokens, 'token')}`,
    `time  ${est_duration_s === null ? 'unknown before it runs' : `about ${durationText(est_duration_s)}`}`,
    `cost  ${est_cost_usd === null ? 'unknown' : `about $${est_cost_usd.toFixed(2)}`}`,
  ];
}

async function followBackfill(context: Context, id: string): Promise<ModelBackfillResponse> {
  const { terminal, signal, monotonic } = context;
  const left = timeLeft(monotonic);
  for (;;) {
    const progress = await get<ModelBackfillResponse>(context, `${pathOf(id)}/backfill`);
    const { status, embedded_chunks: part, total_chunks: whole, last_error } = progress;
    if (status !== 'running') {
      terminal.progress('');
      return progress;
    }
    const state = last_error === null ? left(part, whole) : `waits: ${plain(last_error, 200)}`;
    terminal.progress(`${bar(whole === 0 ? 0 : part / whole)} ${part} of ${whole} passages, ${state}`);
    await delay(lookEveryMs, undefined, { signal });
  }
}

function timeLeft(monotonic: () => number): (part: number, whole: number) => string {
  let first: { part: number; at: number } | undefined;
  return (part, whole) => {
    first ??= { part, at: monotonic() };
    const perMs = (part - first.part) / (monotonic() - first.at);
    return perMs > 0 ? `${durationText((whole - part) / perMs / 1000)} left` : 'begun';
  };
}

export async function pauseFillCommand(context: Context, paused: boolean): Promise<ExitCode> {
  const found = await post<ModelListResponse>(context, '/v1/models/fill', { paused });
  return tell(context, found, ({ say }) => say(paused ? 'filling is paused' : 'filling resumed'));
}

export async function useModelCommand(context: Context, id: string): Promise<ExitCode> {
  const model = await post<ModelInfo>(context, `${pathOf(id)}/activate`);
  return tell(context, model, ({ say }) => say(`searches now use ${plain(model.id, 200)}`));
}

export async function removeModelCommand(context: Context, id: string): Promise<ExitCode> {
  await clientOf(context, 'write').call('DELETE', pathOf(id), undefined, context.signal);
  return tell(context, { removed: id }, ({ say }) => say(`deleted ${plain(id, 200)} and its vectors`));
}
