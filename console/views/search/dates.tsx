/** A period by first and last day. Typing in one field is one history step. */
import { useRef, useState } from 'preact/hooks';
import { stepNow } from '../../app/router.ts';

/** While a year is typed, the value passes through the first centuries. */
const earliest = '1900-01-01';
const latest = '9998-12-31';

export interface Period {
  from: string | null;
  to: string | null;
}

interface Props {
  period: Period;
  labels: readonly [from: string, to: string];
  /** `again`: replaces the field's previous change. */
  change: (part: Partial<Period>, again: boolean) => void;
}

export function Dates({ period: { from, to }, labels, change }: Props) {
  /** The history step of the focused field. */
  const made = useRef<number | null>(null);
  // The field's own value while typing, because keys are faster than updates.
  const [typed, setTyped] = useState<{ name: keyof Period; value: string; taken: string } | null>(null);
  const field = (name: keyof Period, label: string) => {
    const day = (name === 'from' ? from : to) ?? '';
    return (
      <input
        type="date"
        class="input input-small"
        aria-label={label}
        max={latest}
        value={typed?.name === name && typed.taken === day ? typed.value : day}
        onFocus={() => {
          made.current = null;
        }}
        onBlur={() => setTyped(null)}
        onChange={({ currentTarget: { value } }) => {
          const isTaken = value === '' || (value >= earliest && value <= latest && value.length === latest.length);
          setTyped({ name, value, taken: isTaken ? value : day });
          if (!isTaken) return;
          change({ [name]: value || null }, made.current === stepNow());
          made.current = stepNow();
        }}
      />
    );
  };
  return (
    <div class="dates">
      {field('from', labels[0])}
      <span aria-hidden="true">–</span>
      {field('to', labels[1])}
    </div>
  );
}
