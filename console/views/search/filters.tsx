/** Filters: chips of the active ones, and a panel with counts of the results. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { EntityListResponse } from '../../../src/domain/entity.ts';
import type { FacetName } from '../../../src/domain/search.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { useKept } from '../../app/router.ts';
import { count, fullDateOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ValueCount } from '../../ui/parts.tsx';
import { SiteMark } from '../../ui/text.tsx';
import { isName } from '../names/names-view.tsx';
import { type Criteria, inOrder, startOf, stateNames, typeNames } from './criteria.ts';
import { Histogram } from './histogram.tsx';
import type { Counted } from './use-search.ts';

type Change = (part: Partial<Criteria>, options?: { again?: boolean }) => void;

/** `total`: pages that pass; null if unknown. */
export function FilterChips({
  criteria,
  total = null,
  change,
}: {
  criteria: Criteria;
  total?: number | null;
  change: Change;
}) {
  const { site, topic, topicName, name, nameText, lang, type, tag, folder, source, is } = criteria;
  const { from, to } = inOrder(criteria);
  const chips: { label: string; text: string; clear: Partial<Criteria> }[] = [];
  if (site !== null) chips.push({ label: 'Site', text: site, clear: { site: null } });
  if (topic !== null) chips.push({ label: 'Topic', text: topicName ?? topic, clear: { topic: null, topicName: null } });
  if (name !== null) chips.push({ label: 'Name', text: nameText ?? name, clear: { name: null, nameText: null } });
  if (lang !== null) chips.push({ label: 'Language', text: languageOf(lang), clear: { lang: null } });
  if (type !== null) chips.push({ label: 'Type', text: typeNames[type], clear: { type: null } });
  if (tag !== null) chips.push({ label: 'Tag', text: tag, clear: { tag: null } });
  if (folder !== null) chips.push({ label: 'Folder', text: folder, clear: { folder: null } });
  if (source !== null) chips.push({ label: 'Source', text: source, clear: { source: null } });
  if (is !== null) chips.push({ label: 'Status', text: stateNames[is], clear: { is: null } });
  if (from !== null || to !== null)
    chips.push({ label: 'Read', text: periodOf(from, to), clear: { from: null, to: null } });
  if (chips.length === 0) return null;
  return (
    <ul class="chips" aria-label="Active filters">
      {chips.map(({ label, text, clear }) => (
        <li key={label}>
          <button
            type="button"
            class="chip chip-on"
            onClick={() => change(clear)}
            aria-label={`Remove filter ${label}: ${text}${total === null ? '' : ` ${count(total)}`}`}
          >
            <span class="chip-label">{label}:</span> <bdi>{text}</bdi>{' '}
            {total !== null && <span class="numbers">{count(total)}</span>}
            <Icon name="x" />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function periodOf(from: string | null, to: string | null): string {
  if (from !== null && to !== null) {
    return from === to ? fullDateOf(startOf(from)) : `${fullDateOf(startOf(from))} – ${fullDateOf(startOf(to))}`;
  }
  return from !== null ? `since ${fullDateOf(startOf(from))}` : `until ${fullDateOf(startOf(to ?? ''))}`;
}

const languageNames = new Intl.DisplayNames(undefined, { type: 'language', fallback: 'code' });
function languageOf(code: string): string {
  try {
    return languageNames.of(code) ?? code;
  } catch {
    return code; // typed into the address: no language
  }
}

interface Option {
  value: string;
  text: string;
  pages: number;
}

export function FilterPanel({
  criteria,
  counted: { results: counted, facets, of },
  isOld,
  change,
  isOpen,
}: {
  criteria: Criteria;
  counted: Counted;
  /** Whether these counts belong to earlier criteria. */
  isOld: boolean;
  change: Change;
  isOpen: boolean;
}) {
  const options = (field: FacetName, textOf = (value: string) => value): Option[] =>
    (facets?.[field] ?? []).map(({ value, label, count }) => ({ value, text: label ?? textOf(value), pages: count }));
  const languages = options('lang', languageOf);
  const types = options('type', (type) => (typeNames as Record<string, string>)[type] ?? type);
  const states = options('is', (state) => (stateNames as Record<string, string>)[state] ?? state);
  return (
    <aside
      id="filters"
      class={`filters${isOpen ? ' filters-open' : ''}${isOld ? ' filters-stale' : ''}`}
      aria-label="Narrow the results"
      tabIndex={-1}
      aria-busy={isOld}
    >
      <Histogram
        of={of}
        times={counted.map(({ first_seen_at }) => Date.parse(first_seen_at))}
        from={criteria.from}
        to={criteria.to}
        change={(part, again) => change(part, again === undefined ? {} : { again })}
      />
      <Options
        title="Sites"
        options={options('site')}
        chosen={criteria.site}
        choose={(site) => change({ site })}
        isSite
      />
      <Options
        title="Topics"
        options={options('topic')}
        chosen={criteria.topic}
        choose={(topic, topicName) => change({ topic, topicName })}
      />
      {(languages.length > 1 || criteria.lang !== null) && (
        <Options title="Languages" options={languages} chosen={criteria.lang} choose={(lang) => change({ lang })} />
      )}
      {(types.length > 1 || criteria.type !== null) && (
        <Options
          title="Types"
          options={types}
          chosen={criteria.type}
          choose={(type) => change({ type: type as Criteria['type'] })}
        />
      )}
      <Options title="Tags" options={options('tag')} chosen={criteria.tag} choose={(tag) => change({ tag })} />
      <Options
        title="Folders"
        options={options('folder')}
        chosen={criteria.folder}
        choose={(folder) => change({ folder })}
      />
      {(states.some(({ value }) => value !== 'read') || criteria.is !== null) && (
        <Options
          title="Status"
          options={states}
          chosen={criteria.is}
          choose={(is) => change({ is: is as Criteria['is'] })}
        />
      )}
      <Options
        title="Sources"
        options={options('source')}
        chosen={criteria.source}
        choose={(source) => change({ source })}
      />
      <Options
        title="Names"
        options={options('name')}
        chosen={criteria.name}
        choose={(name, nameText) => change({ name, nameText })}
      >
        <NameFilter name={criteria.nameText ?? criteria.name} change={change} />
      </Options>
    </aside>
  );
}

const shownAtFirst = 6;

function Options({
  title,
  options,
  chosen,
  choose,
  isSite = false,
  children,
}: {
  title: string;
  options: readonly Option[];
  chosen: string | null;
  choose: (value: string | null, text: string | null) => void;
  isSite?: boolean;
  children?: ComponentChildren;
}) {
  const [showsAll, setShowsAll] = useKept(`all ${title}`, false);
  if (options.length === 0 && children === undefined) return null;
  const shown = showsAll ? options : options.slice(0, shownAtFirst);
  const most = options[0]?.pages ?? 1;
  return (
    <section class="facet">
      <h2>{title}</h2>
      <ul>
        {shown.map(({ value, text, pages }) => (
          <li key={value}>
            <button
              type="button"
              class="facet-row"
              aria-pressed={value === chosen}
              onClick={() => (value === chosen ? choose(null, null) : choose(value, text))}
            >
              {isSite && <SiteMark domain={value} />}
              <ValueCount text={text} pages={pages} most={most} />
            </button>
          </li>
        ))}
      </ul>
      {options.length > shownAtFirst && (
        <button type="button" class="link-button facet-more" onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? 'Fewer' : `All ${options.length}`}
        </button>
      )}
      {children}
    </section>
  );
}

const offeredNames = 8;

function NameFilter({ name, change }: { name: string | null; change: Change }) {
  const [text, setText] = useState('');
  const q = text.trim();
  const { data } = useLoad(
    (signal) => get<EntityListResponse>('/v1/entities', { q, limit: offeredNames }, signal),
    [],
    [q === '' ? null : q],
  );
  const offered = q === '' ? [] : (data?.entities ?? []).filter(isName);
  const choose = (wanted: string) => {
    const known = offered.find(({ canonical_form }) => canonical_form === wanted);
    if (wanted !== '') change({ name: known?.id ?? wanted, nameText: known?.canonical_form ?? null });
    setText('');
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        choose(q);
      }}
    >
      <input
        type="text"
        class="input input-small"
        aria-label="Names"
        placeholder={name === null ? 'Person, place, organisation…' : name}
        maxLength={1024}
        list="names-offered"
        autocomplete="off"
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          // Choosing from the list does not count as typing.
          const isChosen = !(event instanceof InputEvent) || event.inputType === 'insertReplacementText';
          if (isChosen && offered.some(({ canonical_form }) => canonical_form === value)) choose(value);
          else setText(value);
        }}
      />
      <datalist id="names-offered">
        {offered.map(({ id, canonical_form }) => (
          <option key={id} value={canonical_form} />
        ))}
      </datalist>
    </form>
  );
}
