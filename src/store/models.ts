/**
 * Embedding models known to the store. Databases: `models` id → row; `active_model` 'id' → id; `dropped_spaces` space → 0 while
 * vectors of a deleted model are still there.
 */
import type { EmbeddingModel } from '../domain/model.ts';
import type { Environment, Table } from './environment.ts';

/** Bytes of the longest id that a key is looked up for: four for each of the characters that an id may have. LMDB takes 1978. */
const maxIdBytes = 800;

export class ModelReader {
  protected readonly rows: Table<EmbeddingModel, string>;
  protected readonly active: Table<string, string>;
  protected readonly dropped: Table<number, number>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('models', {});
    this.active = environment.openDatabase('active_model', {});
    this.dropped = environment.openDatabase('dropped_spaces', { keyEncoding: 'uint32' });
  }

  get(id: string): EmbeddingModel | undefined {
    return Buffer.byteLength(id) > maxIdBytes ? undefined : this.rows.get(id);
  }

  all(): EmbeddingModel[] {
    return [...this.rows.getRange()].map(({ value }) => value);
  }

  activeId(): string | null {
    return this.active.get('id') ?? null;
  }

  /** The model that is searched by; undefined where there is none. */
  activeModel(): EmbeddingModel | undefined {
    const id = this.activeId();
    return id === null ? undefined : this.get(id);
  }

  /** Spaces that no model uses any more, whose vectors are not all deleted yet. */
  droppedSpaces(): number[] {
    return [...this.dropped.getKeys()];
  }
}

/** Writer only: valid inside a transaction. */
export class ModelTransactor extends ModelReader {
  put(model: EmbeddingModel): void {
    this.rows.put(model.id, model);
  }

  /** Delete a model's row; its space is to be emptied. */
  remove({ id, space }: EmbeddingModel): void {
    this.rows.remove(id);
    this.abandonSpace(space);
  }

  /** No model uses the space any more: it is to be emptied. */
  abandonSpace(space: number): void {
    this.dropped.put(space, 0);
  }

  /** The space is empty. */
  forgetDropped(space: number): void {
    this.dropped.remove(space);
  }

  activate(id: string): void {
    this.active.put('id', id);
  }
}
