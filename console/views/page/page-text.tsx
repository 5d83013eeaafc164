/** A page's stored text by lines, with its highlights, scrolled to a passage. Of a long text the lines around it are shown, and others on request. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { notify } from '../../app/notices.tsx';
import { keep, kept, useKept } from '../../app/router.ts';
import { count } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { addressesIn, Outside } from '../../ui/text.tsx';
import { linesOf, maxQuote, type Range, selectedRange } from './highlights.ts';
import { useKeys } from './reader.tsx';

const shownAtFirst = 400;
/** Lines shown before the requested place. */
const shownBefore = 100;
const shownMore = 1000;
/** Max lines for the browser's search; more would stall it. */
const maxSearched = 20_000;

interface Mark extends Range {
  /** Index of the highlight in the list; null for the passage. */
  highlight: number | null;
}

interface Props {
  text: string;
  /** Titles of its sections. */
  headings: ReadonlySet<string>;
  passage: Range | null;
  /** Key of the requested passage. */
  asked: string;
  /** Incremented when the same passage is requested again. */
  turn: number;
  /** Null for highlights that are not in the text. */
  highlights: readonly (Range | null)[];
  /** The highlight to scroll to; a new object for each request. */
  target: { highlight: number } | null;
  /** Null if the user may not highlight. */
  onHighlight: ((range: Range) => void) | null;
}

export function PageText({ text, headings, passage, asked, turn, highlights, target, onHighlight }: Props) {
  const paragraphs = useMemo(() => linesOf(text, headings), [text, headings]);
  const root = useRef<HTMLDivElement>(null);
  const passageMark = useRef<HTMLElement>(null);
  const paragraphAt = (range: Range | null | undefined) =>
    range == null ? -1 : paragraphs.findIndex(({ end }) => end > range.start);
  const wanted = paragraphAt(passage);
  const sought = paragraphAt(target === null ? null : highlights[target.highlight]);
  const [lines, setLines] = useKept<Range>('lines', { start: 0, end: shownAtFirst });
  const last = useRef<Pick<Props, 'asked' | 'turn' | 'target'>>({ asked: '', turn: 0, target: null });
  const isNewPassage = passage !== null && (asked !== last.current.asked || turn !== last.current.turn);
  const place = isNewPassage ? wanted : target === last.current.target ? -1 : sought;
  // The text between this place and the earlier one is not all shown.
  if (place >= 0 && (place < lines.start || place >= lines.end)) {
    lines.start = Math.max(0, place - shownBefore);
    lines.end = lines.start + shownAtFirst;
    keep('lines', lines);
  }
  const end = Math.min(lines.end, paragraphs.length);
  const start = Math.max(0, Math.min(lines.start, end - shownAtFirst));
  /** A line and its position in the window, before others are inserted above it. */
  const fixed = useRef<{ line: Element; top: number } | null>(null);
  const show = (from: number, to: number) => {
    const line = root.current?.firstElementChild ?? null;
    fixed.current = line && { line, top: line.getBoundingClientRect().top };
    setLines({ start: Math.max(0, from), end: to });
  };
  useLayoutEffect(() => {
    const { current } = fixed;
    fixed.current = null;
    if (current !== null) scrollBy(0, current.line.getBoundingClientRect().top - current.top);
  }, [start]);
  useEffect(() => {
    if (!isNewPassage) return;
    const isAgain = turn > last.current.turn;
    Object.assign(last.current, { asked, turn });
    // A return restores the scroll position instead.
    if (isAgain || kept('scroll') === undefined) passageMark.current?.scrollIntoView({ block: 'center' });
  }, [passage === null, asked, turn]);
  useEffect(() => {
    last.current.target = target;
    const mark = target && root.current?.querySelector<HTMLElement>(`[data-highlight="${target.highlight}"]`);
    mark?.focus({ preventScroll: true });
    mark?.scrollIntoView({ block: 'center' });
  }, [target]);
  useEffect(() => {
    if (start === 0 && end === paragraphs.length) return;
    const onKey = ({ key, ctrlKey, metaKey }: KeyboardEvent) => {
      if (key !== 'f' || !(ctrlKey || metaKey)) return;
      const from = Math.max(0, Math.min(start - maxSearched / 2, paragraphs.length - maxSearched));
      show(Math.min(start, from), Math.max(end, from + maxSearched)); // the browser only searches shown text
      if (paragraphs.length > maxSearched)
        notify(`Only ${count(maxSearched)} of ${count(paragraphs.length)} lines are searched, around this place.`);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [paragraphs, start, end]);
  const marks: readonly Mark[] = [
    ...(passage === null ? [] : [{ ...passage, highlight: null }]),
    ...highlights.flatMap((range, highlight) => (range === null ? [] : [{ ...range, highlight }])),
  ];
  return (
    <>
      {start > 0 && (
        <button type="button" class="button earlier-button" onClick={() => show(start - shownMore, end)}>
          Show earlier text
        </button>
      )}
      <div class="prose" ref={root}>
        {paragraphs.slice(start, end).map((paragraph) => (
          <p
            key={paragraph.start}
            dir="auto"
            data-start={paragraph.start}
            class={`${paragraph.kind} ${paragraph.follows ? 'prose-next' : ''}`}
            {...roleOf(paragraph.kind)}
          >
            {piecesOf(text, paragraph, marks).map(({ start, end, passed, highlight, href }) => {
              const part =
                href === null ? (
                  text.slice(start, end)
                ) : (
                  <Outside key={start} href={href}>
                    {text.slice(start, end)}
                  </Outside>
                );
              if (!passed && highlight === undefined) return part;
              const kinds = [
                ...(passed ? ['passage-mark'] : []),
                ...(highlight === undefined ? [] : ['highlight-mark']),
              ];
              const isFirst =
                passed && paragraph === paragraphs[wanted] && start === Math.max(paragraph.start, passage?.start ?? 0);
              return (
                <mark
                  key={start}
                  class={kinds.join(' ')}
                  {...(highlight !== undefined && { 'data-highlight': highlight, tabIndex: -1 })}
                  {...(isFirst && { ref: passageMark })}
                >
                  {part}
                </mark>
              );
            })}
          </p>
        ))}
        {paragraphs.length > end && (
          <button type="button" class="button" onClick={() => show(start, end + shownMore)}>
            Show more of the text
          </button>
        )}
        {onHighlight !== null && <Selection root={root} text={text} onHighlight={onHighlight} />}
      </div>
    </>
  );
}

const roleOf = (kind: string) =>
  kind === 'prose-heading'
    ? { role: 'heading' as const, 'aria-level': 2 as const }
    : kind === 'prose-quote' && { role: 'blockquote' as const };

/** Splits a paragraph where marks and addresses begin and end. */
function piecesOf(text: string, paragraph: Range, marks: readonly Mark[]) {
  const within = marks.filter(({ start, end }) => start < paragraph.end && end > paragraph.start);
  const links = addressesIn(text.slice(paragraph.start, paragraph.end)).map(({ start, end }) => ({
    start: paragraph.start + start,
    end: paragraph.start + end,
  }));
  const cuts = new Set([paragraph.start, paragraph.end]);
  for (const { start, end } of [...within, ...links]) {
    cuts.add(Math.max(start, paragraph.start));
    cuts.add(Math.min(end, paragraph.end));
  }
  const borders = [...cuts].sort((a, b) => a - b);
  return borders.slice(1).map((end, at) => {
    const start = borders[at];
    const over = within.filter((mark) => mark.start <= start && mark.end >= end);
    const highlight = over.find((mark) => mark.highlight !== null)?.highlight ?? undefined;
    const link = links.find((each) => each.start <= start && each.end >= end);
    const href = link === undefined ? null : text.slice(link.start, link.end);
    return { start, end, passed: over.some((mark) => mark.highlight === null), highlight, href };
  });
}

/** Offers to highlight the selection. */
function Selection({
  root,
  text,
  onHighlight,
}: Pick<Props, 'text'> & { root: { current: HTMLElement | null }; onHighlight: (range: Range) => void }) {
  const [range, setRange] = useState<Range | null>(null);
  const highlight = () => {
    if (range === null) return;
    if (range.end - range.start > maxQuote) return notify(`Select at most ${maxQuote} characters.`, 'error');
    getSelection()?.removeAllRanges();
    onHighlight(range);
  };
  useKeys({ h: highlight });
  useEffect(() => {
    const look = () => setRange(root.current === null ? null : selectedRange(root.current, text));
    document.addEventListener('selectionchange', look);
    return () => document.removeEventListener('selectionchange', look);
  }, [text]);
  if (range === null) return null;
  return (
    <div class="selection-bar">
      {/* Pressing it must not end the selection. */}
      <button
        type="button"
        class="button button-primary"
        aria-label="Highlight"
        onMouseDown={(event) => event.preventDefault()}
        onClick={highlight}
      >
        <Icon name="edit" />
        Highlight
        <kbd>h</kbd>
      </button>
    </div>
  );
}
