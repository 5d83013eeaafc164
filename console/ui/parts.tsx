/** Shared parts: dialogs, empty and error states, badges, meters, copy buttons. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, Unreachable, wordsFor } from '../api/client.ts';
import { attempt, useAttempt } from '../app/notices.tsx';
import { count } from './format.ts';
import { Icon, type IconName } from './icon.tsx';

interface ViewHeadProps {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}

export function ViewHead({ title, lead, children }: ViewHeadProps) {
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
  /** Whether the view contains nothing else. */
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
  /** Rows shown before "Show more". */
  atOnce: number;
  children: (item: Item) => ComponentChildren;
}

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

/** A failed load with a retry button. The frame reports ended sessions and an unreachable service. */
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

/** Loading or failed, while a view is empty. */
export function Waiting({ error, retry }: { error?: unknown; retry?: () => void }) {
  return error === undefined ? (
    <div class="waiting" aria-busy="true" />
  ) : (
    <Fault error={error} {...(retry && { retry })} />
  );
}

interface FactsProps {
  /** Those without a value are left out. */
  of: readonly (readonly [name: ComponentChildren, value: ComponentChildren])[];
  class?: string;
  label?: string;
}

export function Facts({ of, class: name = 'facts', label }: FactsProps) {
  return (
    <dl class={name} aria-labelledby={label}>
      {of.map(
        ([term, value], at) =>
          value !== null && (
            <div key={at}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Why a form failed. */
export function FormFault({ said }: { said: string | null }) {
  if (said === null) return null;
  return (
    <p class="fault" role="alert">
      {said}
    </p>
  );
}

interface FormEndProps {
  said: string | null;
  busy: boolean;
  act: string;
  danger?: boolean;
  /** Null without a button for it. */
  cancel?: (() => void) | null;
}

/** The end of a dialog's form: its error and buttons. */
export function FormEnd({ said, busy, act, danger = false, cancel = null }: FormEndProps) {
  return (
    <>
      <FormFault said={said} />
      <div class="dialog-actions">
        {cancel !== null && (
          <button type="button" class="button" disabled={busy} onClick={cancel}>
            Cancel
          </button>
        )}
        <button type="submit" class={`button ${danger ? 'button-danger' : 'button-primary'}`} disabled={busy}>
          {act}
        </button>
      </div>
    </>
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

interface TableProps {
  label: string;
  columns?: readonly string[];
  /** Which of them contain numbers. */
  numbers?: readonly string[];
  /** Bodies. */
  children: ComponentChildren;
}

/** A table that may be wider than the screen, scrollable by keys. */
export function Table({ label, columns = [], numbers = [], children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll what has the focus
    <section class="table-scroll" aria-label={label} tabIndex={0}>
      <table class="table">
        <caption class="hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" class={numbers.includes(name) ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </section>
  );
}

/** A value with the number of its pages, as a share of `most` pages. */
export function ValueCount({ text, pages, most }: { text: string; pages: number; most: number }) {
  return (
    <>
      <span class="facet-text">
        <bdi>{text}</bdi>
      </span>
      <svg class="facet-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width={(100 * pages) / most} height="4" rx="2" />
      </svg>
      <span class="numbers">{count(pages)}</span>
    </>
  );
}

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

/** Initial focus of a dialog: its first field, or the safe button before a deletion. */
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
  /** Null while an action runs and the dialog cannot be closed. */
  onClose: (() => void) | null;
  children: ComponentChildren;
  wide?: boolean;
}

/** Where a button shows its error: inside its dialog, which blocks notices outside. */
const ErrorSink = createContext<((said: string | null) => void) | null>(null);

/** Open while rendered. Closing restores the focus. */
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
        // Browsers close a dialog on repeated Escape.
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
      <ErrorSink.Provider value={tell}>{children}</ErrorSink.Provider>
      <FormFault said={said} />
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  act: string;
  onAct: () => Promise<unknown>;
  /** Also after the action. */
  onClose: () => void;
  /** Whether it can be undone. */
  isSafe?: boolean;
  children?: ComponentChildren;
}

/** Asks before an action. */
export function Confirm({ title, act, onAct, onClose, isSafe = false, children }: ConfirmProps) {
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
        <button
          type="button"
          class={`button ${isSafe ? 'button-primary' : 'button-danger'}`}
          disabled={busy}
          onClick={doIt}
        >
          {act}
        </button>
      </div>
    </Dialog>
  );
}

interface ActButtonProps {
  /** Its error is shown. */
  act: () => Promise<unknown>;
  class: string;
  label?: string;
  disabled?: boolean;
  children: ComponentChildren;
}

/** A button for an immediate change: one at a time, double clicks count once. */
export function ActButton({ act, label, children, ...rest }: ActButtonProps) {
  const isRunning = useRef(false);
  const tell = useContext(ErrorSink);
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

/** False where the browser does not let a page copy. */
async function copy(text: string, anchor: HTMLElement): Promise<boolean> {
  // Only over https or on this machine.
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.value = text;
  // Outside a dialog nothing can be selected.
  anchor.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  anchor.focus();
  return isCopied;
}

const copyWords = { copied: 'Copied', refused: 'Copying failed' };

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
