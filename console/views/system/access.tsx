/** Access: sessions, tokens, and pairing. */
import { useEffect, useState } from 'preact/hooks';
import type { SessionResponse as Session, TokenResponse as Token } from '../../../src/domain/access.ts';
import type { OneTimeCode } from '../../api/access.ts';
import { call, get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { useAttempt } from '../../app/notices.tsx';
import { mayWrite, signOut } from '../../app/session.tsx';
import { ago, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Confirm, CopyButton, Dialog, Facts, Fault, FormEnd } from '../../ui/parts.tsx';
import { isolated } from '../../ui/text.tsx';

export function Access() {
  return (
    <>
      {mayWrite() && <Pairing />}
      <Sessions />
      <Tokens />
    </>
  );
}

function Pairing() {
  const [code, setCode] = useState<OneTimeCode | null>(null);
  const ask = async () => {
    setCode(await call<OneTimeCode>('POST', '/v1/codes', { body: { purpose: 'pair' } }));
  };
  return (
    <section class="block" aria-labelledby="pairing">
      <div class="section-head">
        <div>
          <h2 id="pairing">Browser extension</h2>
          <p class="quiet">It saves what you read. Each browser gets its own token, which you can revoke below.</p>
        </div>
        <ActButton class="button" act={ask}>
          <Icon name="plug" />
          Pair an extension
        </ActButton>
      </div>
      {code !== null && <PairDialog code={code} onClose={() => setCode(null)} again={ask} />}
    </section>
  );
}

function PairDialog({ code, onClose, again }: { code: OneTimeCode; onClose: () => void; again: () => Promise<void> }) {
  const [left, setLeft] = useState(1);
  useEffect(() => {
    const show = () => setLeft(Math.max(0, Math.ceil((Date.parse(code.expires_at) - Date.now()) / 1000)));
    show();
    const timer = setInterval(show, 1000);
    return () => clearInterval(timer);
  }, [code]);
  return (
    <Dialog title="Pair the extension" onClose={onClose}>
      <p>Enter these two in the extension’s first page:</p>
      <Facts
        class="pair"
        of={[
          ['Address', <code>{location.origin}</code>],
          ['Code', <span class={left === 0 ? 'pair-code pair-over' : 'pair-code'}>{code.code}</span>],
        ]}
      />
      <p class="quiet" aria-hidden={left > 0}>
        {left > 0 && `Works once, for ${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}.`}
      </p>
      <p class="quiet" role="status">
        {left === 0 ? 'This code has expired.' : <span class="hidden">Works once, for 10 minutes.</span>}
      </p>
      <div class="dialog-actions">
        {left === 0 && (
          <ActButton class="button" act={again}>
            New code
          </ActButton>
        )}
        <button type="button" class="button button-primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

function Sessions() {
  const { data, error, reload } = useLoad((signal) => get<{ sessions: Session[] }>('/v1/sessions', {}, signal), []);
  const [ending, setEnding] = useState<Session | null>(null);
  const end = async ({ id, current }: Session) => {
    if (current) return signOut();
    await call('DELETE', `/v1/sessions/${encodeURIComponent(id)}`);
    reload();
  };
  return (
    <section class="block" aria-labelledby="sessions">
      <h2 id="sessions">Signed in</h2>
      <Fault error={error} retry={reload} />
      <ul class="rows">
        {data?.sessions.map((each) => (
          <li key={each.id} class="row">
            <Badge kind={each.current ? 'ok' : 'plain'}>{each.current ? 'this browser' : 'session'}</Badge>
            <div class="row-main">
              <p class="row-title">
                <bdi>{browserOf(each.user_agent)}</bdi>
              </p>
              <p class="quiet">
                token <bdi>{each.name}</bdi> · since {timeOf(each.created_at)} · expires {timeOf(each.expires_at)} if
                unused
              </p>
            </div>
            <div class="row-end">
              <time dateTime={each.last_used_at}>{ago(each.last_used_at)}</time>
              {(each.current || mayWrite()) && (
                <button type="button" class="button button-small" onClick={() => setEnding(each)}>
                  {each.current ? 'Sign out' : 'End'}
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {ending !== null && (
        <Confirm
          title={ending.current ? 'Sign out?' : 'End this session?'}
          act={ending.current ? 'Sign out' : 'End session'}
          onAct={() => end(ending)}
          onClose={() => setEnding(null)}
        >
          <p>
            <bdi>{browserOf(ending.user_agent)}</bdi> needs a new link or a token to sign in again.
          </p>
        </Confirm>
      )}
    </section>
  );
}

/** A browser's common name. */
function browserOf(agent: string | null): string {
  if (agent === null) return 'A program';
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\/(\d+)/.exec(agent);
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(agent)?.[1];
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser?.[1] ?? ''] ?? browser?.[1] ?? agent.slice(0, 60);
  return `${name}${browser === null ? '' : ` ${browser[2]}`}${system === undefined ? '' : ` on ${system}`}`;
}

const sourceWords = {
  settings: 'from the settings, or from the file “token” in the data folder',
  created: 'created here',
  paired: 'paired',
};

function Tokens() {
  const { data, error, reload } = useLoad((signal) => get<{ tokens: Token[] }>('/v1/tokens', {}, signal), []);
  const [isNew, setNew] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const revoke = async ({ id }: Token) => {
    await call('DELETE', `/v1/tokens/${encodeURIComponent(id)}`);
    reload();
  };
  return (
    <section class="block" aria-labelledby="tokens">
      <div class="section-head">
        <h2 id="tokens">Tokens</h2>
        {mayWrite() && (
          <button type="button" class="button" onClick={() => setNew(true)}>
            <Icon name="key" />
            New token
          </button>
        )}
      </div>
      <Fault error={error} retry={reload} />
      <ul class="rows">
        {data?.tokens.map((each) => (
          <li key={each.id} class="row">
            <Badge kind="plain">{each.scopes.includes('write') ? 'read, write' : 'read'}</Badge>
            <div class="row-main">
              <p class="row-title">
                <bdi>{each.name}</bdi>
              </p>
              <p class="quiet">
                {sourceWords[each.source]}
                {each.origin !== null && (
                  <>
                    {' · '}
                    <bdi class="break">{each.origin}</bdi>
                  </>
                )}
              </p>
            </div>
            <div class="row-end">
              <span class="quiet">
                {each.last_used_at === null ? 'not used yet' : `used ${ago(each.last_used_at)}`}
              </span>
              {mayWrite() && each.source !== 'settings' && (
                <button type="button" class="button button-small button-quiet-danger" onClick={() => setRevoking(each)}>
                  Revoke
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {revoking !== null && (
        <Confirm
          title={`Revoke “${isolated(revoking.name)}”?`}
          act="Revoke"
          onAct={() => revoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          <p>Programs that use this token lose access at once. It cannot be restored.</p>
        </Confirm>
      )}
      {isNew && (
        <NewToken
          onClose={() => {
            setNew(false);
            reload();
          }}
        />
      )}
    </section>
  );
}

function NewToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [writes, setWrites] = useState(true);
  const [made, setMade] = useState<string | null>(null);
  const { busy, said, attempt } = useAttempt();
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const body = { name: name.trim(), scopes: writes ? ['read', 'write'] : ['read'] };
      setMade((await call<Token & { token: string }>('POST', '/v1/tokens', { body })).token);
    });
  };
  return (
    <Dialog title="New token" onClose={busy ? null : onClose}>
      {made === null ? (
        <form class="stack" onSubmit={submit}>
          <label class="field">
            <span>What for</span>
            <input
              class="input"
              required
              maxLength={100}
              placeholder="laptop script"
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={writes}
              onChange={({ currentTarget }) => setWrites(currentTarget.checked)}
            />
            May add and delete pages, not only search
          </label>
          <FormEnd said={said} busy={busy} act="Create" />
        </form>
      ) : (
        <div class="stack">
          <p>This is shown once. Cancel where only the program reads it.</p>
          <p class="secret">
            <code>{made}</code>
          </p>
          <div class="dialog-actions">
            <CopyButton text={made} />
            <button type="button" class="button button-primary" onClick={onClose}>
              Done
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
