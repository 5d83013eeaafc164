/**
 * `readback model try`: makes a model ready beside the active one, has both measured on the same queries, and switches where that is wanted.
 * It stores nothing: each step looks at what the service has, does what lacks, and waits for it, so that the command said again goes on
 * where it was. The work itself is the service's (docs/models.md, "Try one").
 *
 *   source ─ is the provider there, does it have the model ─ register ─ estimate, backfill ─ replays ─ table ─ activate
 */
import { setTimeout as delay } from 'node:timers/promises';
import { commonVerdict, fewestQueries, type Verdict, verdictOf } from '../../compute/measures/verdict.ts';
import {
  type EvalReplayAccepted,
  type EvalReplayItem,
  type EvalReplayList,
  type EvalReplayRequest,
  learningQueries,
  type ReplayReport,
  type ReplaySource,
  type ScoreReport,
} from '../../domain/evaluation.ts';
import { type KnownModel, knownModels } from '../../domain/known-models.ts';
import type {
  BackfillEstimateResponse,
  ModelBackfillResponse,
  ModelInfo,
  ModelListResponse,
} from '../../domain/model.ts';
import { isPaid, unnamedProvider } from '../../domain/usual-address.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';
import { findSource, type Lack, type ModelSource, payeeOf, type ShownProviders } from '../model-sources.ts';
import { counted } from '../page-lines.ts';
import { type ServiceClient, UnreachableError } from '../service-client.ts';
import { bar, bytesText, plain } from '../terminal.ts';
import { wrapped } from '../text-width.ts';
import { trialLines, verdictLine } from '../trial-lines.ts';
import { estimateLines, followBackfill, lookEveryMs, pathOf, registrationOf, timeLeft } from './models.ts';

export interface TryModelArguments {
  /** Ask nothing, and switch only where the model is shown to be better. */
  yes: boolean;
  queries: number;
  /** Also where both were compared a short while ago. */
  again: boolean;
  /** Of the vectors of a known model that is not registered yet, or of the one that is meant; undefined: the model's own. */
  dim?: number | undefined;
}

/** What is tried beside what answers now. */
interface Arms {
  a: { model: string; isLocal: boolean };
  b: { model: string };
  /** Replays of before this time are of other vectors; ISO 8601. */
  since: string | null;
  /** What orders the results now, as reports name it: replays by another one are of no use. */
  reranker: string | null;
}

interface Evaluation {
  source: ReplaySource;
  job_id: string;
  verdict: Verdict;
  report: ReplayReport;
}

/** Replays that are looked through for those that were begun already. */
const lookedAt = 100;
const dayMs = 86_400_000;

export async function tryModelCommand(context: Context, name: string, args: TryModelArguments): Promise<ExitCode> {
  const { terminal, signal } = context;
  if (!args.yes && !terminal.asks)
    throw new CliError(
      exitCodes.misuse,
      'before it fetches, pays or switches it asks, and here is nobody to ask: say --yes, or run it in a terminal',
    );
  try {
    return await new Trial(context, name, args).run();
  } catch (error) {
    terminal.progress('');
    if (signal.aborted)
      throw new CliError(
        exitCodes.interrupted,
        `interrupted; what was begun goes on in the service\nto go on here: readback model try ${plain(name, 200)}`,
      );
    if (error instanceof UnreachableError)
      throw new CliError(error.exitCode, `${error.message}\nwhat was done is kept: say the same again to go on`, {
        cause: error,
      });
    throw error;
  }
}

/** What somebody did not want. */
class Declined extends Error {}

class Trial {
  readonly #context: Context;
  readonly #name: string;
  readonly #args: TryModelArguments;
  readonly #client: ServiceClient;

  constructor(context: Context, name: string, args: TryModelArguments) {
    this.#context = context;
    this.#name = name;
    this.#args = args;
    this.#client = clientOf(context, 'write');
  }

  async run(): Promise<ExitCode> {
    const { models } = await this.#call<ModelListResponse>('GET', '/v1/models');
    const active = models.find(({ is_active }) => is_active);
    if (active === undefined)
      throw new CliError(exitCodes.failed, 'no model is active, so there is none to compare with: readback model use');
    const { settings } = await this.#call<{ settings: ShownProviders }>('GET', '/v1/admin/config');
    const known = knownModels.find(({ name }) => name === this.#name);
    const { dim } = this.#args;
    // Before anything is fetched.
    if (known !== undefined && dim !== undefined) registrationOf(known.name, { dim });
    const reranks = settings.reranker.kind === 'api' && settings.reranker.model === this.#name;
    try {
      if (known?.does === 'reranking' || reranks) return await this.#tryReranker(known, active, settings);
      const found = await this.#findModel(models, known, settings);
      if (found.is_active) return this.#answersAlready(found);
      this.#tell(`${bold(this.#context, plain(found.id, 200))} beside ${plain(active.id, 200)}, which answers now`);
      const since = await this.#fill(found);
      const arms = {
        a: { model: active.id, isLocal: false },
        b: { model: found.id },
        since,
        reranker: reportedReranker(settings),
      };
      const payee = embeddingPayee(found, settings);
      await this.#agreedToPay([embeddingPayee(active, settings), payee, rerankingPayee(settings)], payee !== null);
      const evaluations = await this.#evaluate(arms);
      return await this.#conclude(active, found, { evaluations, payee });
    } catch (error) {
      if (!(error instanceof Declined)) throw error;
      if (this.#context.json) this.#context.terminal.json({ declined: error.message, switched: false });
      else this.#tell(error.message);
      return exitCodes.done;
    }
  }

  /** The model, registered, of a provider that has it. */
  async #findModel(
    models: readonly ModelInfo[],
    known: KnownModel | undefined,
    settings: ShownProviders,
  ): Promise<ModelInfo> {
    const { dim } = this.#args;
    // By its name, a model is what registering it would make; by its id, the one that has it.
    const isKnown = ({ provider, model_name, dim: made }: ModelInfo) =>
      known?.names[provider] === model_name && made === (dim ?? known.dim);
    const isNamed = (model: ModelInfo) =>
      isKnown(model) || (model.id === this.#name && (dim === undefined || model.dim === dim));
    const registered = models.find((model) => isNamed(model) && model.is_active) ?? models.find(isNamed);
    if (registered?.is_active === true) return registered;
    if (registered !== undefined) {
      await this.#settle(registered.provider, await this.#sourceOf(registered, known, settings));
      return registered;
    }
    if (known === undefined)
      throw new CliError(
        exitCodes.misuse,
        `${plain(this.#name, 200)} is none of those known (readback model list --known) and is not registered${dim === undefined ? '' : ` with ${dim} dimensions`}:\nreadback model add NAME --provider P --dim N --max-tokens N registers it`,
      );
    const sources: [string, ModelSource][] = [];
    const isSet = (provider: string) =>
      settings.embedder.provider === provider || Object.hasOwn(settings.providers, provider);
    const names = Object.entries(known.names);
    // From afar nobody sees what runs beside the service: who is set there comes first.
    if (this.#context.url !== undefined) names.sort(([a], [b]) => Number(isSet(b)) - Number(isSet(a)));
    for (const [provider, model_name] of names) {
      const source = await this.#sourceOf({ provider, model_name }, known, settings);
      sources.push([provider, source]);
      if (source.state === 'there') break;
    }
    const usable =
      sources.findLast(([, { state }]) => state === 'there') ?? sources.find(([, { state }]) => state === 'fetchable');
    if (usable === undefined) throw lacking(known.name, sources);
    await this.#settle(...usable);
    return this.#call<ModelInfo>('POST', '/v1/models', registrationOf(known.name, { provider: usable[0], dim }));
  }

  #sourceOf(
    { provider, model_name }: Pick<ModelInfo, 'provider' | 'model_name'>,
    known: KnownModel | undefined,
    settings: ShownProviders,
  ): Promise<ModelSource> {
    const { url, signal } = this.#context;
    const { parameters_millions = null, does = 'embedding' } = known ?? {};
    const wanted = { provider, model_name, parameters_millions, does };
    return findSource(wanted, settings, { isHere: url === undefined, signal });
  }

  /** Have what a source needs, or end. */
  async #settle(provider: string, source: ModelSource): Promise<void> {
    if (source.state === 'missing') throw lacking(this.#name, [[provider, source]]);
    this.#step('source', plain(source.detail, 300));
    if (source.state === 'there') return;
    await this.#agreed('Fetch it?', 'nothing was fetched');
    if (source.fetch === null) return;
    const { terminal, signal } = this.#context;
    const left = timeLeft(this.#context.monotonic);
    const draw = (done: number, whole: number) =>
      terminal.progress(
        `${bar(whole === 0 ? 0 : done / whole)} ${bytesText(done)} of ${bytesText(whole)}, ${left(done, whole)}`,
      );
    terminal.progress('asked for …');
    await source.fetch(draw, signal);
    terminal.progress('');
    this.#step('fetched', 'it is there');
  }

  /** Give the model the vectors that it lacks. Gives since when it has them. */
  async #fill({ id, status, provider, model_name }: ModelInfo): Promise<string | null> {
    const path = `${pathOf(id)}/backfill`;
    const before = await this.#call<ModelBackfillResponse>('GET', path);
    if (status === 'ready') return before.started_at;
    if (before.status !== 'running') {
      const estimate = await this.#call<BackfillEstimateResponse>('POST', path, {});
      for (const [at, line] of estimateLines(estimate).entries()) this.#step(at === 0 ? 'vectors' : '', line);
      if (estimate.est_cost_usd === null && isPaid(provider))
        this.#step(
          '',
          `(SERVICE_EMBEDDER__PRICES='{"${plain(model_name, 200)}": dollars for a million tokens}' would tell)`,
        );
      await this.#agreed('Make them?', `${plain(id, 200)} is registered; no vectors were made`);
      await this.#call('POST', path, { confirm: true });
    }
    const {
      status: end,
      embedded_chunks,
      last_error,
      started_at,
    } = await followBackfill(this.#context, this.#client, id);
    if (end !== 'complete')
      throw new CliError(
        exitCodes.failed,
        `the vectors could not be made: ${plain(last_error ?? 'no reason is known', 500)}\nwhat is made is kept: say the same again to go on`,
      );
    this.#step('filled', `vectors of ${counted(embedded_chunks, 'passage')}`);
    return started_at;
  }

  /** What both arms come to on each source of queries that has enough. */
  async #evaluate(arms: Arms): Promise<Evaluation[]> {
    const { queries } = await this.#call<ScoreReport>('POST', '/v1/admin/eval/score', {});
    const judged = new Set(queries.map(({ query_text }) => query_text)).size;
    const sources: ReplaySource[] = judged < fewestQueries ? ['library'] : ['log', 'library'];
    if (judged < fewestQueries)
      this.#step('queries', `made of pages; of yours ${judged} are judged, from ${fewestQueries} on they count, too`);
    else this.#step('queries', `${judged} of yours that are judged, and some made of pages`);
    const begun: [ReplaySource, string][] = [];
    for (const source of sources) begun.push([source, await this.#begin(source, arms)]);
    return this.#follow(new Map(begun));
  }

  /** The job of a replay: one that was begun already, one that was dead and is sent on, or a new one. */
  async #begin(source: ReplaySource, { a, b, since, reranker }: Arms): Promise<string> {
    const { queries: limit, again } = this.#args;
    const asked = {
      ...{ source, model_a: a.model, model_b: b.model, rerank_a: true, rerank_b: true },
      // A service of an earlier version knows no such field.
      ...(a.isLocal && { rerank_locally_a: true }),
      ...{ k: 10, candidates: 100, limit },
    } satisfies Partial<EvalReplayRequest>;
    const isSame = (replay: EvalReplayItem) =>
      Object.entries(asked).every(([field, value]) => replay[field as keyof typeof asked] === value);
    const isOld = ({ updated_at, report }: EvalReplayItem) =>
      Date.parse(updated_at) < this.#context.now() - dayMs ||
      // With more pages there may be enough queries.
      (report !== null && (report.b.reranker_model !== reranker || verdictOf(report) === 'too_few'));
    const isOver = (replay: EvalReplayItem) =>
      // One that is under way since before the vectors were made has queries of both.
      (since !== null && replay.created_at < since) ||
      ((replay.status === 'done' || replay.status === 'dead') && (again || isOld(replay)));
    const found = (await this.#replays()).find(isSame);
    if (found === undefined || isOver(found)) {
      return (await this.#call<EvalReplayAccepted>('POST', '/v1/admin/eval/replay', asked)).job_id;
    }
    if (found.status === 'done')
      this.#step('measured', `${found.updated_at.slice(0, 16).replace('T', ' ')} UTC: --again measures anew`);
    if (found.status === 'dead') await this.#call('POST', `/v1/jobs/${found.job_id}/retry`);
    return found.job_id;
  }

  async #replays(): Promise<EvalReplayItem[]> {
    return (await this.#call<EvalReplayList>('GET', `/v1/admin/eval/replay?limit=${lookedAt}`)).replays;
  }

  async #follow(begun: ReadonlyMap<ReplaySource, string>): Promise<Evaluation[]> {
    const { terminal, signal, monotonic } = this.#context;
    const left = timeLeft(monotonic);
    for (;;) {
      const all = await this.#replays();
      const found = [...begun.values()].flatMap((id) => all.find(({ job_id }) => job_id === id) ?? []);
      const dead = found.find(({ status }) => status === 'dead');
      if (dead !== undefined || found.length < begun.size)
        throw new CliError(
          exitCodes.failed,
          `the comparison stopped: ${plain(dead?.last_error ?? 'its job is gone', 500)}\nwhat was measured is kept: say the same again to go on`,
        );
      if (found.every(({ status }) => status === 'done')) {
        terminal.progress('');
        return found.flatMap(({ source, job_id, report }) =>
          report === null ? [] : [{ source, job_id, verdict: verdictOf(report), report }],
        );
      }
      const part = found.reduce((sum, { replayed }) => sum + replayed, 0);
      const whole = found.reduce((sum, { planned, limit }) => sum + (planned ?? limit ?? 0), 0);
      terminal.progress(`${bar(part / whole)} ${part} of ${whole} queries, ${stateOf(found, () => left(part, whole))}`);
      await delay(lookEveryMs, undefined, { signal });
    }
  }

  async #conclude(
    active: ModelInfo,
    found: ModelInfo,
    { evaluations, payee }: { evaluations: readonly Evaluation[]; payee: string | null },
  ): Promise<ExitCode> {
    const verdict = commonVerdict(evaluations.map((each) => each.verdict));
    this.#show(evaluations, { a: active.id, b: found.id });
    const [id, other] = [plain(found.id, 200), plain(active.id, 200)];
    const wanted = this.#args.yes
      ? verdict === 'better'
      : verdict !== 'worse' && (await this.#asksToSwitch(id, verdict));
    if (wanted) await this.#call('POST', `${pathOf(found.id)}/activate`);
    const back = `readback model use ${active.id}`;
    const { terminal, json } = this.#context;
    if (json)
      terminal.json({
        ...{ model: found.id, beside: active.id, evaluations, verdict },
        ...{ switched: wanted, undo: wanted ? back : null },
      });
    else if (wanted) {
      this.#tell(terminal.style('green', `searches go by ${id} from now on`));
      this.#tell(`back: ${plain(back, 300)}`);
    } else {
      const why = this.#args.yes && verdict !== 'worse' ? ': --yes switches only where it is shown to be better' : '';
      this.#tell(`searches go by ${other}, as before${why}`);
      this.#tell(`all the same: readback model use ${id}; or away with it: readback model remove ${id}`);
      const where = payee === null ? '' : `, from ${plain(payee, 100)}, ${isPaid(payee) ? 'for' : 'perhaps for'} money`;
      this.#tell(`until it is removed new pages get its vectors, too${where}`);
    }
    return exitCodes.done;
  }

  #asksToSwitch(id: string, verdict: Verdict): Promise<boolean> {
    const { terminal, signal } = this.#context;
    return terminal.confirm(verdict === 'better' ? `Search by ${id}?` : `Search by ${id} all the same?`, signal);
  }

  #answersAlready({ id }: ModelInfo): ExitCode {
    const { terminal, json } = this.#context;
    if (json) terminal.json({ model: id, switched: false });
    else terminal.say(`${plain(id, 200)} answers already: there is nothing to compare it with`);
    return exitCodes.done;
  }

  /** The order by the reranker that the settings name and by the local one: which one there is only a start changes. */
  async #tryReranker(known: KnownModel | undefined, active: ModelInfo, settings: ShownProviders): Promise<ExitCode> {
    const { terminal, json } = this.#context;
    const { kind, provider, model } = settings.reranker;
    const isSet = kind === 'api' && (model === this.#name || (provider !== null && known?.names[provider] === model));
    if (!isSet) throw await this.#howToSet(known, settings);
    const name = plain(this.#name, 200);
    this.#tell(`results by ${bold(this.#context, name)} beside those by the local reranker`);
    const { id } = active;
    const arms = {
      a: { model: id, isLocal: true },
      b: { model: id },
      since: null,
      reranker: reportedReranker(settings),
    };
    await this.#agreedToPay([embeddingPayee(active, settings), rerankingPayee(settings)], false);
    const evaluations = await this.#evaluate(arms);
    const verdict = commonVerdict(evaluations.map((each) => each.verdict));
    this.#show(evaluations, { a: 'local reranker', b: name });
    if (json) terminal.json({ model: this.#name, beside: 'local', evaluations, verdict, switched: false, undo: null });
    else this.#tell('it stays as it is set: another SERVICE_RERANKER__KIND takes a new start');
    return exitCodes.done;
  }

  /** What is to be set for a known reranker, for each provider that has it, and what lacks there. */
  async #howToSet(known: KnownModel | undefined, settings: ShownProviders): Promise<CliError> {
    const lines = [`the service does not rerank by ${plain(this.#name, 200)}; set for it, and start it again:`];
    for (const [provider, called] of Object.entries(known?.names ?? {})) {
      const source = await this.#sourceOf({ provider, model_name: called }, known, settings);
      if (source.state === 'missing') lines.push(...lackLines(provider, source.lacks));
      else lines.push(`${provider}: ${plain(source.detail, 300)}`);
      lines.push(
        `  SERVICE_RERANKER__KIND=api SERVICE_RERANKER__PROVIDER=${provider} SERVICE_RERANKER__MODEL=${called}`,
      );
    }
    return new CliError(exitCodes.failed, lines.join('\n'));
  }

  #show(evaluations: readonly Evaluation[], names: { a: string; b: string }): void {
    const { terminal, json } = this.#context;
    for (const { source, report, verdict } of evaluations) {
      if (!json) {
        terminal.say('');
        const [head, ...rows] = trialLines(source, report, names, Math.min(terminal.columns, 80));
        terminal.say(terminal.style('bold', head));
        for (const row of rows) terminal.say(row);
      }
      const style = verdict === 'better' ? 'green' : verdict === 'worse' ? 'red' : 'yellow';
      for (const line of wrapped(verdictLine(report, verdict), Math.min(terminal.columns, 80)))
        this.#tell(json ? line : terminal.style(style, line));
    }
    if (!json) terminal.say('');
  }

  /** Where queries, and passages to be reranked, go to somebody who takes money for it, or may. */
  async #agreedToPay(payees: readonly (string | null)[], learns: boolean): Promise<void> {
    const paid = [...new Set(payees)].filter((payee) => payee !== null);
    if (paid.length === 0) return;
    const learned = learns ? `, ${learningQueries} to learn how far its vectors are trusted,` : ',';
    const costs = paid.every(isPaid) ? 'cost' : 'may cost';
    this.#step(
      'cost',
      `up to ${this.#args.queries} queries of each kind${learned} and passages to be reranked, go to ${paid.map((payee) => plain(payee, 100)).join(' and ')} and ${costs} money there`,
    );
    await this.#agreed('Send them?', 'nothing was compared');
  }

  /** Go on only where somebody wants it. */
  async #agreed(question: string, otherwise: string): Promise<void> {
    const { terminal, signal } = this.#context;
    if (!this.#args.yes && !(await terminal.confirm(question, signal))) throw new Declined(otherwise);
  }

  #step(name: string, line: string): void {
    const { terminal } = this.#context;
    const room = Math.min(terminal.columns, 80) - stepWidth;
    for (const [at, each] of wrapped(line, room).entries())
      this.#tell(terminal.style('dim', (at === 0 ? name : '').padEnd(stepWidth)) + each);
  }

  /** What a person reads; the document of `--json` is the only thing on standard output then. */
  #tell(line: string): void {
    const { terminal, json } = this.#context;
    if (json) terminal.note(line);
    else terminal.say(line);
  }

  #call<Reply>(method: string, path: string, body?: unknown): Promise<Reply> {
    return this.#client.call<Reply>(method, path, body, this.#context.signal);
  }
}

const stepWidth = 9;

const bold = ({ terminal }: Context, text: string) => terminal.style('bold', text);

function lacking(name: string, sources: readonly [string, ModelSource][]): CliError {
  const lines = sources.flatMap(([provider, source]) =>
    source.state === 'missing' ? lackLines(provider, source.lacks) : [],
  );
  const choice = sources.length === 1 ? 'it lacks' : 'what lacks, by provider, any of which will do';
  return new CliError(exitCodes.failed, [`${plain(name, 200)} cannot be had yet: ${choice}`, ...lines].join('\n'));
}

const lackLines = (provider: string, lacks: readonly Lack[]): string[] =>
  lacks.flatMap(({ detail, next }) => [`${provider}: ${plain(detail, 300)}`, `  ${plain(next, 300)}`]);

/** What replays are at that are not over. */
function stateOf(replays: readonly EvalReplayItem[], left: () => string): string {
  const failed = replays.find(
    ({ status, last_error }) => status !== 'done' && status !== 'running' && last_error !== null,
  );
  if (failed !== undefined) return `waits: ${plain(failed.last_error ?? '', 200)}`;
  const running = replays.find(({ status }) => status === 'running');
  if (running === undefined) return 'waits for other jobs';
  return running.planned === null ? 'weighing vectors and words' : left();
}

/** What reports call the reranker that is set; null for none. */
function reportedReranker({ reranker: { kind, provider, model } }: ShownProviders): string | null {
  if (kind !== 'api') return kind === 'local' ? 'local' : null;
  return [provider ?? unnamedProvider, model].filter((part) => part !== null).join('/');
}

const embeddingPayee = ({ provider }: ModelInfo, settings: ShownProviders): string | null =>
  payeeOf({ provider, does: 'embedding' }, settings);

/** Who takes money for reranking, or may; null where that is the service itself. */
function rerankingPayee(settings: ShownProviders): string | null {
  const { kind, provider, base_url, api_key } = settings.reranker;
  if (kind !== 'api') return null;
  if (provider !== null) return payeeOf({ provider, does: 'reranking' }, settings);
  return api_key === null ? null : (base_url ?? unnamedProvider);
}
