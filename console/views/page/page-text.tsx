/** A page's stored text as paragraphs, scrolled to a passage. Long texts are shown in parts. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { kept, useKept } from '../../app/router.ts';

interface Range {
  start: number;
  end: number;
}

/** A paragraph is a line of the text; offsets are of the whole text, UTF-16. */
function paragraphsOf(text: string): Range[] {
  const ranges: Range[] = [];
  for (const { 0: line, index } of text.matchAll(/[^\n]+/g)) {
    if (line.trim() !== '') ranges.push({ start: index, end: index + line.length });
  }
  return ranges;
}

const shownAtFirst = 400;

/** `turn` increments when the passage is requested again. */
export function PageText({ text, passage, turn }: { text: string; passage: Range | null; turn: number }) {
  const paragraphs = useMemo(() => paragraphsOf(text), [text]);
  const target = useRef<HTMLElement>(null);
  const wanted = passage === null ? -1 : paragraphs.findIndex(({ end }) => end > passage.start);
  const [most, setMost] = useKept('most', shownAtFirst);
  const shown = Math.max(most, wanted + 50);
  useEffect(() => {
    // Returns restore the scroll position.
    if (turn > 0 || kept('scroll') === undefined) target.current?.scrollIntoView({ block: 'center' });
  }, [passage?.start, text, turn]);
  return (
    <div class="prose">
      {paragraphs.slice(0, shown).map(({ start, end }, at) => {
        const isHit = passage !== null && start < passage.end && end > passage.start;
        if (!isHit) {
          return (
            <p key={start} dir="auto">
              {text.slice(start, end)}
            </p>
          );
        }
        const [from, to] = [Math.max(start, passage.start), Math.min(end, passage.end)];
        return (
          <p key={start} dir="auto">
            {text.slice(start, from)}
            <mark class="passage-mark" {...(at === wanted && { ref: target })}>
              {text.slice(from, to)}
            </mark>
            {text.slice(to, end)}
          </p>
        );
      })}
      {paragraphs.length > shown && (
        <button type="button" class="button" onClick={() => setMost(shown + 1000)}>
          Show more of the text
        </button>
      )}
    </div>
  );
}
