/** What the user notes about pages: tags, a note, highlights. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { MetadataEdit } from '../../../src/domain/metadata.ts';
import type { PageEditBatchResponse, PageEditResponse, PageResponse } from '../../../src/domain/page.ts';
import type { SearchResponse } from '../../../src/domain/search.ts';
import { call } from '../../api/client.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import { attempt, notify, useAttempt } from '../../app/notices.tsx';
import { linkTo } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, FormFault } from '../../ui/parts.tsx';
import { dropKeptSearches } from '../search/use-search.ts';
import { quoteOf, type Range } from './highlights.ts';

/** A text, an object with a `name`, or a list of these. */
export const textsIn = (value: unknown): string[] =>
  [value]
    .flat()
    .map((each) => (typeof each === 'object' && each !== null && 'name' in each ? each.name : each))
    .filter((each) => typeof each === 'string');

export type EditPage = (edit: MetadataEdit) => Promise<void>;

/** Change a page, and show the answer of the service. */
export const editorOf =
  (path: string, page: Pick<Loaded<PageResponse>, 'set'>): EditPage =>
  async (edit) => {
    // Save a note even while the page closes.
    const keepalive = edit.note !== undefined;
    const { metadata } = await call<PageEditResponse>('PATCH', path, { body: edit, keepalive });
    dropKeptSearches();
    page.set((data) => ({ ...data, metadata }));
  };

/** The service's maximum. */
const pagesAtOnce = 500;

async function tagPages(ids: readonly string[], edit: Pick<MetadataEdit, 'add_tags' | 'remove_tags'>): Promise<void> {
  const counts = { changed: 0, unchanged: 0, not_found: 0, too_large: 0 };
  try {
    for (let at = 0; at < ids.length; at += pagesAtOnce) {
      const body = { ...edit, page_ids: ids.slice(at, at + pagesAtOnce) };
      const { results } = await call<PageEditBatchResponse>('PATCH', '/v1/pages', { body });
      for (const { outcome } of results) counts[outcome]++;
    }
  } finally {
    dropKeptSearches();
  }
  notify(`${many(counts.changed, 'page')} changed`);
  if (counts.too_large > 0) notify(`No room for more tags: ${many(counts.too_large, 'page')} not changed`, 'error');
  if (counts.not_found > 0) notify(`No longer in the library: ${many(counts.not_found, 'page')}`, 'error');
}

/** Add tags to pages, or remove them. */
export function BulkTags({ ids, onDone }: { ids: readonly string[]; onDone?: () => void }) {
  const change = (edit: Parameters<typeof tagPages>[1]) => tagPages(ids, edit).finally(onDone);
  return (
    <TagForm
      label={`Tag ${many(ids.length, 'page')}`}
      add={(tags) => change({ add_tags: tags })}
      remove={(tags) => change({ remove_tags: tags })}
    />
  );
}

async function knownTags(signal: AbortSignal): Promise<string[]> {
  const body = {
    ...{ query: 'after:1970-01-01', operators: true, facets: true },
    ...{ k: 1, chunks_per_page: 0, suggest: 0, log: false },
  };
  const { facets } = await call<SearchResponse>('POST', '/v1/search', { body, signal });
  return facets?.tag.map(({ value }) => value) ?? [];
}

interface TagFormProps {
  label: string;
  add: (tags: string[]) => Promise<void>;
  remove?: (tags: string[]) => Promise<void>;
}

/** Completes from the tags of the library once it is used. */
function TagForm({ label, add, remove }: TagFormProps) {
  const id = useId();
  const [text, setText] = useState('');
  const [isUsed, setUsed] = useState(false);
  const known = useLoad(knownTags, [isUsed || null]);
  const { busy, said, attempt } = useAttempt();
  const tags = text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const change = (act: TagFormProps['add']) => {
    if (tags.length === 0) return;
    void attempt(async () => {
      await act(tags);
      setText('');
      known.reload();
    });
  };
  return (
    <form
      class="tag-form"
      onSubmit={(event) => {
        event.preventDefault();
        change(add);
      }}
    >
      <input
        class="input input-small"
        aria-label={label}
        placeholder={label}
        maxLength={200}
        list={id}
        autocomplete="off"
        value={text}
        onFocus={() => setUsed(true)}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <datalist id={id}>
        {known.data?.map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
      <button type="submit" class="button button-small" disabled={busy}>
        Add
      </button>
      {remove !== undefined && (
        <button type="button" class="button button-small" disabled={busy} onClick={() => change(remove)}>
          Remove
        </button>
      )}
      <FormFault said={said} />
    </form>
  );
}

interface AnnotationsProps {
  page: Pick<PageResponse, 'metadata' | 'body_text'>;
  edit: EditPage;
  /** By highlight; null if it is not in the text. */
  places: readonly (Range | null)[];
  highlights: readonly unknown[];
  goTo: (highlight: number) => void;
}

export function Annotations({ page, edit, places, highlights, goTo }: AnnotationsProps) {
  const tags = textsIn(page.metadata?.tags);
  const note = textsIn(page.metadata?.note).join('\n\n');
  const isEditable = mayWrite();
  return (
    <>
      {(isEditable || tags.length > 0) && (
        <section class="facet">
          <h2>Tags</h2>
          <ul class="tags">
            {tags.map((tag) => (
              <li key={tag} class="tag">
                <a href={linkTo('search', '', { tag })}>
                  <bdi>{tag}</bdi>
                </a>
                {isEditable && (
                  <ActButton class="tag-remove" label={`Remove tag ${tag}`} act={() => edit({ remove_tags: [tag] })}>
                    <Icon name="x" />
                  </ActButton>
                )}
              </li>
            ))}
          </ul>
          {isEditable && <TagForm label="Add tags" add={(added) => edit({ add_tags: added })} />}
        </section>
      )}
      {(isEditable || note !== '') && (
        <section class="facet">
          <h2>Note</h2>
          {isEditable ? <NoteField note={note} edit={edit} /> : <p class="note">{note}</p>}
        </section>
      )}
      {highlights.length > 0 && (
        <section class="facet">
          <h2>{many(highlights.length, 'highlight')}</h2>
          <ul class="highlight-list">
            {highlights.map((highlight, at) => {
              const quote = quoteOf(highlight);
              return (
                <li key={`${at} ${quote}`}>
                  {places[at] === null ? (
                    <div>
                      <bdi>{quote}</bdi>
                      {page.body_text !== null && <p class="quiet">No longer in the text</p>}
                    </div>
                  ) : (
                    <button type="button" class="link-button" onClick={() => goTo(at)}>
                      <bdi>{quote}</bdi>
                    </button>
                  )}
                  {isEditable && (
                    <ActButton
                      class="icon-button"
                      label={`Remove highlight ${quote.slice(0, 60)}`}
                      act={() => edit({ remove_highlights: [highlight] })}
                    >
                      <Icon name="x" />
                    </ActButton>
                  )}
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </>
  );
}

/** Saved when the field or the page is left. A failed save is repeated later. */
function NoteField({ note, edit }: { note: string; edit: EditPage }) {
  const [text, setText] = useState(note);
  const [state, setState] = useState<'saved' | 'changed' | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(note);
  /** The note that the service has, or that is being sent. */
  const sent = useRef(note);
  const isSaving = useRef(false);
  const write = (given: string) => {
    latest.current = given;
    setText(given);
  };
  useEffect(() => {
    if (latest.current === sent.current) write(note);
    sent.current = note;
  }, [note]);
  /** Sends one at a time, so that none overtakes another, unless the page is being left. */
  const save = async (isLeaving = false): Promise<void> => {
    const { current: before } = sent;
    const { current: given } = latest;
    if (given === before || (isSaving.current && !isLeaving)) return;
    isSaving.current = true;
    sent.current = given;
    let isSaved = false;
    await attempt(async () => {
      await edit({ note: given });
      isSaved = true;
    });
    isSaving.current = false;
    if (!isSaved) sent.current = before;
    else if (latest.current === given) setState('saved');
    else if (document.activeElement !== field.current) void save();
  };
  const leave = useRef(save);
  leave.current = save;
  useEffect(() => {
    const flush = () => void leave.current(true);
    addEventListener('pagehide', flush);
    return () => {
      removeEventListener('pagehide', flush);
      flush();
    };
  }, []);
  return (
    <div class="note-field">
      <textarea
        ref={field}
        class="input"
        aria-label="Note"
        rows={3}
        maxLength={10_000}
        placeholder="Write a note"
        value={text}
        onInput={({ currentTarget }) => {
          write(currentTarget.value);
          setState('changed');
        }}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
        }}
      />
      <p class="hint" aria-live="polite">
        {state === 'saved' ? 'Saved' : state === 'changed' ? 'Saved when you leave the field' : ''}
      </p>
    </div>
  );
}
