/** A menu of the ready models. */
import type { ModelInfo } from '../../../src/domain/model.ts';

interface Props {
  label: string;
  models: readonly ModelInfo[];
  value: string;
  choose: (id: string) => void;
}

export function ModelChoice({ label, models, value, choose }: Props) {
  return (
    <label class="field">
      <span>{label}</span>
      <select class="input" value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {models.map(({ id, is_active }) => (
          <option key={id} value={id}>
            {is_active ? `${id} (active)` : id}
          </option>
        ))}
      </select>
    </label>
  );
}
