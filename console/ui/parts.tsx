/** Small parts: dialogs, empty and faulty states, badges, meters, copy buttons. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, Unreachable, wordsFor } from '../api/client.ts';
import { attempt, useAttempt } from '../app/notices.tsx';
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

interface EmptyProps {
  icon: IconName;
  title: string;
  /** Whether nothing else is in the view. */
  isView?: boolean;
  children?: ComponentChildren;
}

export function Empty({ icon, title, isView = false, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      {isView ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

interface RowsProps<Item> {
  items: readonly Item[] | undefined;
  /** How many are shown before somebody asks for more. */
  atOnce: number;
  children: (item: Item) => ComponentChildren;
}

/** Rows of a list, so many at once. */
export function Rows<Item>({ items = [], atOnce, children }: RowsProps<Item>) {
  const [shown, setShown] = useState(atOnce);
  return (
    <>
      <ul class="rows">{items.slice(0, shown).map(children)}</ul>
      {shown < items.length && (
        <button type="button" class="button" onClick={() => setShown(shown + atOnce)}>
          More of {count(items.length)}
        </button>
      )}
    </>
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

/** A table that may be wider than the screen: keys scroll it there. */
export function TableScroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll what has the focus
    <section class="table-scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
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

interface DialogProps {
  title: string;
  /** Null while it cannot be closed: what was begun in it goes on, and is told of in it. */
  onClose: (() => void) | null;
  children: ComponentChildren;
  wide?: boolean;
}

/** Where a button tells what went wrong: within a dialog in it, for a notice beside it cannot be reached. */
const Told = createContext<((said: string | null) => void) | null>(null);

/** A dialog that is open while it is rendered. Closed, it gives the focus back to what had it. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const [said, tell] = useState<string | null>(null);
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
      onCancel={(event) => {
        if (onClose === null) event.preventDefault();
      }}
      onClose={({ currentTarget }) => {
        if (isGone.current) return;
        if (onClose !== null) onClose();
        // A browser closes what Escape is pressed for again and again.
        else currentTarget.showModal();
      }}
    >
      <div class="dialog-head">
        <h2>{title}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label="Close"
          disabled={onClose === null}
          onClick={() => dialog.current?.close()}
        >
          <Icon name="x" />
        </button>
      </div>
      <Told.Provider value={tell}>{children}</Told.Provider>
      <FormFault said={said} />
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  act: string;
  onAct: () => Promise<unknown>;
  /** Also after the act. */
  onClose: () => void;
  children?: ComponentChildren;
}

/** Asks once, plainly, before something that cannot be undone. */
export function Confirm({ title, act, onAct, onClose, children }: ConfirmProps) {
  const { busy, said, attempt: attemptHere } = useAttempt();
  const doIt = () =>
    attemptHere(async () => {
      await onAct();
      onClose();
    });
  return (
    <Dialog title={title} onClose={busy ? null : onClose}>
      {children}
      <FormFault said={said} />
      <div class="dialog-actions">
        <button type="button" class="button" disabled={busy} onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button button-danger" disabled={busy} onClick={doIt}>
          {act}
        </button>
      </div>
    </Dialog>
  );
}

interface ActButtonProps {
  /** What goes wrong with it is told. */
  act: () => Promise<unknown>;
  class: string;
  label?: string;
  disabled?: boolean;
  children: ComponentChildren;
}

/** A button that changes something at once: one thing at a time, and once for a double click. */
export function ActButton({ act, label, children, ...rest }: ActButtonProps) {
  const isRunning = useRef(false);
  const tell = useContext(Told);
  const onClick = async ({ detail }: MouseEvent) => {
    if (isRunning.current || detail > 1) return;
    isRunning.current = true;
    tell?.(null);
    await attempt(act, tell ?? undefined);
    isRunning.current = false;
  };
  return (
    <button type="button" aria-label={label} onClick={onClick} {...rest}>
      {children}
    </button>
  );
}

/** Errors: none; false where the browser does not let a page copy. */
async function copy(text: string, beside: HTMLElement): Promise<boolean> {
  // Only where the page came by https, or from this machine.
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.value = text;
  // In a dialog nothing outside of it can be selected.
  beside.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  beside.focus();
  return isCopied;
}

const copyWords = { copied: 'Copied', refused: 'The browser does not copy' };

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<keyof typeof copyWords | null>(null);
  return (
    <button
      type="button"
      class="button button-small"
      onClick={async ({ currentTarget }) => {
        setState((await copy(text, currentTarget)) ? 'copied' : 'refused');
        setTimeout(() => setState(null), 2000);
      }}
    >
      <Icon name={state === 'copied' ? 'check' : state === 'refused' ? 'alert' : 'copy'} />
      <span aria-live="polite">{state === null ? label : copyWords[state]}</span>
    </button>
  );
}
