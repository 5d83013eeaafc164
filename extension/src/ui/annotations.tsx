/** Tags and the note of the page in the tab, once the service has it. */
import { useState } from 'preact/hooks';
import type { MetadataEdit } from '../../../src/domain/metadata.ts';
import type { ServiceClient } from '../service/client.ts';
import { Notice, t, useLoaded } from './parts.tsx';

const maxTag = 100;

/** Metadata of imports may have other values. */
const textsIn = (value: unknown): string[] => [value].flat().filter((each) => typeof each === 'string');

/** `again` reloads them, for example when the page has been captured. */
export function Annotations({ url, client, again }: { url: string; client: ServiceClient; again: unknown }) {
  const [turn, setTurn] = useState(0);
  const [isRefused, setRefused] = useState(false);
  const [typed, setTyped] = useState('');
  const page = useLoaded(async () => {
    const found = await client.pageOf(url);
    const known = found.problem === null ? found.body.pages.at(0) : undefined;
    return known === undefined ? null : client.page(known.page_id);
  }, [url, again, turn]);
  if (page?.problem !== null) return null;
  const { page_id, metadata } = page.body;
  const edit = async (change: MetadataEdit) => {
    const { problem } = await client.edit(page_id, change);
    setRefused(problem !== null);
    setTurn((before) => before + 1);
  };
  const [note = ''] = textsIn(metadata?.note);
  return (
    <section aria-label={t('tags_and_note')}>
      <h2>{t('tags_and_note')}</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const tags = typed.split(',').map((tag) => tag.trim());
          setTyped('');
          void edit({ add_tags: tags.filter((tag) => tag !== '') });
        }}
      >
        {textsIn(metadata?.tags).map((tag) => (
          <span key={tag} class="tag">
            <bdi>{tag}</bdi>{' '}
            <button
              type="button"
              class="plain"
              aria-label={t('remove_tag', tag)}
              onClick={() => void edit({ remove_tags: [tag] })}
            >
              ×
            </button>
          </span>
        ))}
        <input
          aria-label={t('add_tag')}
          placeholder={t('add_tag')}
          maxLength={maxTag}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </form>
      <textarea
        key={note}
        aria-label={t('note')}
        placeholder={t('note')}
        defaultValue={note}
        onChange={({ currentTarget }) => void edit({ note: currentTarget.value.trim() || null })}
      />
      {isRefused && <Notice kind="bad">{t('not_saved')}</Notice>}
    </section>
  );
}
