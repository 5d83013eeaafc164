/** Small parts: dialogs, empty and faulty states, badges, meters, copy buttons. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, Unreachable, wordsFor } from '../api/client.ts';
import { count } from './format.ts';
import { Icon, type IconName } from './icon.tsx';

export function ViewHead({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="view-head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p class="quiet">{lead}</p>}
      </div>
      {children !== undefined && <div class="view-actions">{children}</div>}
    </div>
  );
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A load that failed, with a way to try again; nothing for a session that ended or a service that is away, which the frame tells of. */
export function Fault({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === undefined || error instanceof Unreachable || (error instanceof ApiError && error.status === 401))
    return null;
  return (
    <div class="bar bar-error" role="alert">
      <Icon name="alert" />
      <span>{wordsFor(error)}</span>
      {retry !== undefined && (
        <button type="button" class="button button-small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** While a view has nothing to show: that it waits for it, or why it is not there. */
export function Waiting({ error, retry }: { error?: unknown; retry?: () => void }) {
  return error === undefined ? (
    <div class="waiting" aria-busy="true" />
  ) : (
    <Fault error={error} {...(retry && { retry })} />
  );
}

/** Why what a form asks for could not be done; nothing while nothing is wrong. */
export function FormFault({ said }: { said: string | null }) {
  if (said === null) return null;
  return (
    <p class="fault" role="alert">
      {said}
    </p>
  );
}

export function Badge({
  kind,
  children,
}: {
  kind: 'ok' | 'warn' | 'bad' | 'live' | 'plain';
  children: ComponentChildren;
}) {
  return <span class={`badge badge-${kind}`}>{children}</span>;
}

/** How far something is. */
export function Progress({ part, whole, label }: { part: number; whole: number; label: string }) {
  return (
    <div class="progress">
      <progress value={part} max={Math.max(whole, 1)} aria-label={label} />
      <span class="numbers">
        {count(part)} / {count(whole)}
      </span>
    </div>
  );
}

/** Where a dialog begins: at its first field; where it is about to destroy something, at what does not. */
function beginningOf(dialog: HTMLDialogElement): HTMLElement | null {
  const destroys = dialog.querySelector('.button-danger') !== null;
  return dialog.querySelector(
    destroys
      ? '.dialog-actions .button:not(.button-danger)'
      : 'input:not(:disabled), select:not(:disabled), textarea, .dialog-actions .button',
  );
}

/** A dialog that is open while it is rendered. Closed, it gives the focus back to what had it. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const { current: open } = dialog;
    open?.showModal();
    if (open !== null) beginningOf(open)?.focus();
    return () => {
      isGone.current = true;
      open?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-label={title}
      onClose={() => isGone.current || onClose()}
    >
      <div class="dialog-head">
        <h2>{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <Icon name="x" />
        </button>
      </div>
      {children}
    </dialog>
  );
}

/** Asks once, plainly, before something that cannot be undone. */
export function Confirm({
  title,
  act,
  onAct,
  onClose,
  children,
}: {
  title: string;
  act: string;
  onAct: () => Promise<unknown>;
  /** Also after the act. */
  onClose: () => void;
  children?: ComponentChildren;
}) {
  const [busy, setBusy] = useState(false);
  const isThere = useRef(true);
  useEffect(
    () => () => {
      isThere.current = false;
    },
    [],
  );
  const doIt = async () => {
    setBusy(true);
    await onAct();
    // Closed meanwhile, another question may be asked in its place.
    if (isThere.current) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button button-danger" disabled={busy} onClick={() => void doIt()}>
          {act}
        </button>
      </div>
    </Dialog>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  return (
    <button
      type="button"
      class="button button-small"
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setDone(true);
        setTimeout(() => setDone(false), 2000);
      }}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      <span aria-live="polite">{isDone ? 'Copied' : label}</span>
    </button>
  );
}
