/** A page's stored text by lines, with its highlights, scrolled to a passage. Long texts are shown in parts. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { notify } from '../../app/notices.tsx';
import { kept, useKept } from '../../app/router.ts';
import { count } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { linesOf, maxQuote, type Range, selectedRange } from './highlights.ts';
import { useKeys } from './reader.tsx';

const shownAtFirst = 400;
/** Rendering more stalls the browser. */
const maxSearched = 20_000;

interface Mark extends Range {
  /** Of a highlight, its place in the list; null for the passage. */
  highlight: number | null;
}

interface Props {
  text: string;
  /** Titles of its sections. */
  headings: ReadonlySet<string | null>;
  passage: Range | null;
  /** The passage that is requested. */
  asked: string;
  /** Incremented when it is requested again. */
  turn: number;
  /** Null for those that are not in the text. */
  highlights: readonly (Range | null)[];
  /** The highlight to go to; another object when it is requested again. */
  target: { highlight: number } | null;
  /** Null for users who may not. */
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
  const [most, setMost] = useKept('most', shownAtFirst);
  const [searched, setSearched] = useState(0);
  const shown = Math.max(most, searched, wanted + 50, sought + 50);
  const scrolled = useRef({ asked: '', turn: 0 });
  useEffect(() => {
    const { current: last } = scrolled;
    if (passage === null || (asked === last.asked && turn === last.turn)) return;
    scrolled.current = { asked, turn };
    // Returns restore the scroll position.
    if (turn > last.turn || kept('scroll') === undefined) passageMark.current?.scrollIntoView({ block: 'center' });
  }, [passage === null, asked, turn]);
  useEffect(() => {
    const mark = target && root.current?.querySelector<HTMLElement>(`[data-highlight="${target.highlight}"]`);
    mark?.focus({ preventScroll: true });
    mark?.scrollIntoView({ block: 'center' });
  }, [target]);
  useEffect(() => {
    if (paragraphs.length <= shown) return;
    const onKey = ({ key, ctrlKey, metaKey }: KeyboardEvent) => {
      if (key !== 'f' || !(ctrlKey || metaKey)) return;
      setSearched(maxSearched); // the browser finds what is shown
      const searchable = Math.max(shown, maxSearched);
      if (searchable < paragraphs.length)
        notify(`Only the first ${count(searchable)} lines of this text are searched.`);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [paragraphs, shown]);
  const marks: readonly Mark[] = [
    ...(passage === null ? [] : [{ ...passage, highlight: null }]),
    ...highlights.flatMap((range, highlight) => (range === null ? [] : [{ ...range, highlight }])),
  ];
  return (
    <div class="prose" ref={root}>
      {paragraphs.slice(0, shown).map((paragraph, at) => {
        const { kind, follows } = paragraph;
        const heading = kind === 'prose-heading' && ({ role: 'heading', 'aria-level': 2 } as const);
        return (
          <p
            key={paragraph.start}
            dir="auto"
            data-start={paragraph.start}
            class={`${kind} ${follows ? 'prose-next' : ''}`}
            {...heading}
          >
            {piecesOf(paragraph, marks).map(({ start, end, passed, highlight }) => {
              const part = text.slice(start, end);
              if (!passed && highlight === undefined) return part;
              const kinds = [
                ...(passed ? ['passage-mark'] : []),
                ...(highlight === undefined ? [] : ['highlight-mark']),
              ];
              const isFirst = passed && at === wanted && start === Math.max(paragraph.start, passage?.start ?? 0);
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
        );
      })}
      {paragraphs.length > shown && (
        <button type="button" class="button" onClick={() => setMost(shown + 1000)}>
          Show more of the text
        </button>
      )}
      {onHighlight !== null && <Selection root={root} text={text} onHighlight={onHighlight} />}
    </div>
  );
}

/** A paragraph, cut where marks begin and end. */
function piecesOf(paragraph: Range, marks: readonly Mark[]) {
  const within = marks.filter(({ start, end }) => start < paragraph.end && end > paragraph.start);
  const cuts = new Set([paragraph.start, paragraph.end]);
  for (const { start, end } of within) {
    cuts.add(Math.max(start, paragraph.start));
    cuts.add(Math.min(end, paragraph.end));
  }
  const borders = [...cuts].sort((a, b) => a - b);
  return borders.slice(1).map((end, at) => {
    const start = borders[at];
    const over = within.filter((mark) => mark.start <= start && mark.end >= end);
    const highlight = over.find((mark) => mark.highlight !== null)?.highlight ?? undefined;
    return { start, end, passed: over.some((mark) => mark.highlight === null), highlight };
  });
}

/** Offers to highlight what is selected. */
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
