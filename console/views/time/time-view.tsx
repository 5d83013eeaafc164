/** Reading over time: a calendar, and a period's sites, topics and pages. */
import { useMemo } from 'preact/hooks';
import { useLoad } from '../../api/load.ts';
import { go, linkTo, route, useKept } from '../../app/router.ts';
import { clockOf, count, fullDateOf, many, monthOfYearOf, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PageRow } from '../../ui/page-row.tsx';
import { Empty, Fault, ValueCount, ViewHead, Waiting } from '../../ui/parts.tsx';
import { isolated, SiteMark } from '../../ui/text.tsx';
import { dayOf, filterless, inOrder, periodIn, startOf } from '../search/criteria.ts';
import { Dates, type Period } from '../search/dates.tsx';
import { FilterChips, periodOf } from '../search/filters.tsx';
import { Calendar, firstDay } from './calendar.tsx';
import {
  byDay,
  firstYear,
  maxPages,
  type PageDay,
  pageDaysOf,
  readingIn,
  type Topic,
  topicsOfPages,
  visitsIn,
} from './reading.ts';

export function TimeView() {
  const { params } = route.value;
  const site = params.get('site');
  const typed = periodIn(params);
  const { from, to } = inOrder(typed);
  const isEarlier = to !== null && to < dayOf(firstDay(new Date()));
  const until = isEarlier ? new Date(Number(to.slice(0, 4)), 11, 31) : new Date();
  const year = dayOf(firstDay(until));
  // A period before the calendar's year is searched too.
  const since = from !== null && from < year ? from : isEarlier && from === null ? null : year;
  const reading = useLoad(
    (signal) => readingIn([since === null ? new Date(0) : startOf(since), dayAfter(until)], site, signal),
    [site ?? '', since ?? '', dayOf(until)],
  );
  const topics = useLoad(topicsOfPages, []);
  const first = useLoad(firstYear, []);
  const refused = [reading, topics, first].find(({ error }) => error !== undefined);
  const pageDays = useMemo(() => pageDaysOf(reading.data?.pages ?? []), [reading.data]);
  const counts = useMemo(() => new Map([...byDay(pageDays)].map(([day, list]) => [day, visitsIn(list)])), [pageDays]);
  const show = (change: Record<string, string | null>, again = false) =>
    go(linkTo('time', '', { site, ...typed, ...change }), { replace: again });
  const earliest = from ?? since ?? '';
  const shown = useMemo(
    () => pageDays.filter(({ day }) => day >= earliest && (to === null || day <= to)),
    [pageDays, earliest, to],
  );
  const pages = useMemo(() => [...new Set(shown.map(({ page }) => page))], [shown]);
  const isWhole = from === null && to === null;
  const period = isWhole ? 'the last year' : periodOf(from, to);
  return (
    <div class="view">
      <ViewHead
        title="Time"
        lead={reading.data && `${many(pages.length, 'page')} · ${many(visitsIn(shown), 'visit')} · ${period}`}
      >
        <a class="button" href={linkTo('search', '', { from: isWhole ? year : from, to, site })}>
          <Icon name="search" />
          Search within
        </a>
      </ViewHead>
      <FilterChips
        criteria={{ ...filterless, query: '', spelling: null, sort: null, site }}
        change={() => show({ site: null })}
      />
      <Fault error={refused?.error} retry={() => refused?.reload()} />
      {reading.data?.isPart && <p class="quiet">These are the newest {count(maxPages)} pages; there are more.</p>}
      <section class="card" aria-label="Calendar" aria-busy={reading.loading}>
        <Calendar
          until={until}
          counts={counts}
          from={from}
          to={to}
          choose={(start, end) => show({ from: start, to: end })}
        />
        <div class="calendar-foot">
          <Dates period={typed} labels={['From', 'Until']} change={show} />
          <Jump first={first.data} from={from} to={to} show={show} />
          <span class="legend" aria-hidden="true">
            fewer
            {[0, 1, 2, 3, 4].map((level) => (
              <svg key={level} viewBox="0 0 12 12" aria-hidden="true">
                <rect width="12" height="12" rx="3" class={`day level-${level}`} />
              </svg>
            ))}
            more
          </span>
        </div>
      </section>
      {reading.data === undefined ? (
        reading.error === undefined && <Waiting />
      ) : shown.length === 0 ? (
        <Empty
          icon="clock"
          title={`No pages ${site === null ? '' : `of ${isolated(site)} `}read in ${isWhole ? 'the last year' : 'this period'}`}
        />
      ) : (
        <div class="time-body">
          <PageDays pageDays={shown} />
          <aside class="time-side" aria-label="In this period">
            <Ranking
              title="Sites"
              entries={rank(pages.map(({ domain }) => ({ id: domain, label: domain })))}
              linkOf={({ id }) => linkTo('time', '', { site: id, from, to })}
              isSite
            />
            <Ranking
              title="Topics"
              entries={rank(pages.flatMap(({ page_id }) => topics.data?.get(page_id) ?? []))}
              linkOf={({ id }) => linkTo('topics', id)}
            />
          </aside>
        </div>
      )}
    </div>
  );
}

const dayAfter = (date: Date): Date => new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1);

interface JumpProps extends Period {
  first: number | undefined;
  show: (period: { from: string | null; to: string | null }) => void;
}

/** Years since the first visit, and their months. */
function Jump({ first, from, to, show }: JumpProps) {
  const thisYear = new Date().getFullYear();
  const option = (text: string, start: Date, end: Date) => (
    <option key={text} value={`${dayOf(start)} ${dayOf(end)}`}>
      {text}
    </option>
  );
  return (
    <label class="select">
      <span class="hidden">Year or month</span>
      <select
        value={from === null && to === null ? '' : `${from} ${to}`}
        onChange={({ currentTarget: { value } }) => {
          const [start = null, end = null] = value === '' ? [] : value.split(' ');
          show({ from: start, to: end });
        }}
      >
        <option value="">Last year</option>
        {Array.from({ length: thisYear - (first ?? thisYear) + 1 }, (_, at) => thisYear - at).map((year) => (
          <optgroup key={year} label={String(year)}>
            {option(`All of ${year}`, new Date(year, 0, 1), new Date(year, 11, 31))}
            {Array.from({ length: 12 }, (_, month) =>
              option(monthOfYearOf(new Date(year, month)), new Date(year, month, 1), new Date(year, month + 1, 0)),
            )}
          </optgroup>
        ))}
        <option hidden value={`${from} ${to}`}>
          Other days
        </option>
      </select>
    </label>
  );
}

interface Ranked extends Topic {
  pages: number;
}

function rank(topics: readonly Topic[]): Ranked[] {
  const ranked = new Map<string, Ranked>();
  for (const topic of topics) {
    const entry = ranked.get(topic.id) ?? { ...topic, pages: 0 };
    entry.pages++;
    ranked.set(topic.id, entry);
  }
  return [...ranked.values()].sort((a, b) => b.pages - a.pages).slice(0, 10);
}

interface RankingProps {
  title: string;
  entries: readonly Ranked[];
  linkOf: (entry: Ranked) => string;
  isSite?: boolean;
}

function Ranking({ title, entries, linkOf, isSite = false }: RankingProps) {
  if (entries.length === 0) return null;
  return (
    <section class="facet">
      <h2>{title}</h2>
      <ul>
        {entries.map((entry) => (
          <li key={entry.id}>
            <a class="facet-row" href={linkOf(entry)}>
              {isSite && <SiteMark domain={entry.id} />}
              <ValueCount text={entry.label} pages={entry.pages} most={entries[0].pages} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const shownAtFirst = 60;

function PageDays({ pageDays }: { pageDays: readonly PageDay[] }) {
  const [most, setMost] = useKept('most', shownAtFirst);
  const groups = [...byDay(pageDays.slice(0, most))];
  return (
    <section aria-label="Pages">
      {groups.map(([day, list]) => (
        <section key={day} class="day-group">
          <h2>{fullDateOf(startOf(day))}</h2>
          <ul class="page-list">
            {list.map(({ page, visits, at }) => (
              <PageRow key={page.page_id} page={page} domain={page.domain}>
                <time dateTime={at} title={timeOf(at)}>
                  {visits > 1 && `${many(visits, 'visit')} · `}
                  {clockOf(at)}
                </time>
              </PageRow>
            ))}
          </ul>
        </section>
      ))}
      {pageDays.length > most && (
        <button type="button" class="button" onClick={() => setMost(most * 3)}>
          More pages
        </button>
      )}
    </section>
  );
}
