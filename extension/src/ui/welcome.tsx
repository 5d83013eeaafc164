/** The first page: pairs this browser by a code, and offers an import. */
import { render } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from '../messages.ts';
import { type Outcome, pair, ServiceClient } from '../service/client.ts';
import { type Connection, connection as connectionSchema } from '../service/connection.ts';
import { ImportPanel } from './import-panel.tsx';
import { describeDocument, Notice, t, useLoaded } from './parts.tsx';

const usualAddress = 'http://127.0.0.1:8000';

function browserName(): string {
  const { userAgent } = navigator;
  const browser = /Firefox/.test(userAgent) ? 'Firefox' : /Edg\//.test(userAgent) ? 'Edge' : 'Chromium';
  const system = /Windows|Mac OS X|Android|Linux/.exec(userAgent)?.[0] ?? '';
  return `${browser} ${system}`.trim();
}

/** The permission for an address; null if invalid. */
function reachOf(address: string): { origins: string[] } | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname } = new URL(address);
  return { origins: [`${protocol}//${hostname}/*`] };
}

function pairProblem(answer: Exclude<Outcome<unknown>, { problem: null }>): string {
  if (answer.problem === 'unauthorized') return t('code_wrong');
  if (answer.problem === 'unreachable') return t('service_unreachable', answer.detail);
  return t('pair_failed', answer.detail);
}

function PairForm({ paired, cancel }: { paired: () => void; cancel: (() => void) | null }) {
  const [address, setAddress] = useState(usualAddress);
  const [code, setCode] = useState('');
  const [token, setToken] = useState('');
  const [name, setName] = useState(browserName());
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const reach = reachOf(address);
  // Checked before the click: Firefox only allows requests within it.
  const mayReach = useLoaded(async () => reach !== null && chrome.permissions.contains(reach), [address]);

  const connect = async (): Promise<string | null> => {
    if (reach === null) return t('address_invalid');
    if (!mayReach && !(await chrome.permissions.request(reach))) return t('address_refused');
    const { origin } = new URL(address);
    const made = await (token === '' ? byCode(origin) : byToken(origin));
    if (typeof made === 'string') return made;
    await ask('connect', made);
    paired();
    return null;
  };
  const byCode = async (origin: string): Promise<Connection | string> => {
    const answer = await pair(origin, code.trim().toUpperCase(), name.trim() || browserName());
    if (answer.problem !== null) return pairProblem(answer);
    if (!answer.body.scopes.includes('write')) return t('code_reads_only', answer.body.name);
    return connectionSchema.parse({
      address: origin,
      token: answer.body.token,
      name: answer.body.name,
      library: answer.body.library,
    });
  };
  const byToken = async (origin: string): Promise<Connection | string> => {
    const made = connectionSchema.parse({ address: origin, token, name, library: null });
    const answer = await new ServiceClient(made).whoami();
    if (answer.problem !== null) return answer.problem === 'unauthorized' ? t('token_wrong') : pairProblem(answer);
    if (!answer.body.scopes.includes('write')) return t('token_reads_only');
    return { ...made, name: answer.body.name };
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setBusy(true);
        void connect()
          .catch((error: unknown) => String(error))
          .then(setFault)
          .then(() => setBusy(false));
      }}
    >
      <ol class="steps">
        <li>{t('step_code')}</li>
        <li>{t('step_type')}</li>
      </ol>
      <label class="field">
        <span>{t('code')}</span>
        <input
          class="code"
          type="text"
          value={code}
          placeholder="XXXX-XXXX"
          autocomplete="off"
          spellcheck={false}
          maxLength={20}
          required={token === ''}
          onInput={({ currentTarget }) => setCode(currentTarget.value)}
        />
      </label>
      <details>
        <summary>{t('more')}</summary>
        <label class="field">
          <span>{t('address')}</span>
          <input type="url" value={address} required onInput={({ currentTarget }) => setAddress(currentTarget.value)} />
        </label>
        <label class="field">
          <span>{t('browser_name')}</span>
          <input
            type="text"
            value={name}
            maxLength={100}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>{t('token')}</span>
          <input
            type="password"
            value={token}
            autocomplete="off"
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
      </details>
      {fault !== null && <Notice kind="bad">{fault}</Notice>}
      <div class="row">
        <button type="submit" class="main" disabled={busy}>
          {t('pair')}
        </button>
        {cancel !== null && (
          <button type="button" onClick={cancel}>
            {t('cancel')}
          </button>
        )}
      </div>
    </form>
  );
}

function Welcome() {
  const [changes, setChanges] = useState(0);
  const connection = useLoaded(() => ask('connection', null), [changes]);
  const [again, setAgain] = useState(false);
  if (connection === undefined) return null;
  return (
    <main>
      <h1>{t('welcome')}</h1>
      <p>{t('welcome_text')}</p>
      {connection === null || again ? (
        <section>
          <h2>{t('section_pair')}</h2>
          <PairForm
            cancel={connection === null ? null : () => setAgain(false)}
            paired={() => {
              setAgain(false);
              setChanges((n) => n + 1);
            }}
          />
        </section>
      ) : (
        <>
          <Notice kind="good">{t('paired_with', connection.address, connection.name)}</Notice>
          <p>{t('paired_text')}</p>
          <div class="row">
            <button type="button" onClick={() => setAgain(true)}>
              {t('pair_again')}
            </button>
            <a class="button" href="options.html">
              {t('options')}
            </a>
          </div>
          <ImportPanel />
        </>
      )}
    </main>
  );
}

describeDocument(t('welcome'));
render(<Welcome />, document.getElementById('app') as HTMLElement);
