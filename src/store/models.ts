/**
 * Embedding models. Databases: `models` id → row; `active_model` 'id' → id, 'paused' → '' while filling of the built-in model is paused;
 * `dropped_spaces` space → 0 while a deleted model still has vectors.
 */
import type { EmbeddingModel } from '../domain/model.ts';
import { numbered, Records } from './records.ts';

/** Max bytes of an id that is looked up: four per allowed character. LMDB accepts 1978. */
const maxIdBytes = 800;

export class ModelReader extends Records {
  protected readonly rows = this.table<EmbeddingModel, string>('models');
  protected readonly active = this.table<string, string>('active_model');
  protected readonly dropped = this.table<number, number>('dropped_spaces', numbered);

  get(id: string): EmbeddingModel | undefined {
    return Buffer.byteLength(id) > maxIdBytes ? undefined : this.rows.get(id);
  }

  all(): EmbeddingModel[] {
    return [...this.rows.getRange()].map(({ value }) => value);
  }

  activeId(): string | null {
    return this.active.get('id') ?? null;
  }

  activeModel(): EmbeddingModel | undefined {
    const id = this.activeId();
    return id === null ? undefined : this.get(id);
  }

  isFillPaused(): boolean {
    return this.active.doesExist('paused');
  }

  droppedSpaces(): number[] {
    return [...this.dropped.getKeys()];
  }
}

export class ModelTransactor extends ModelReader {
  put(model: EmbeddingModel): void {
    this.rows.put(model.id, model);
  }

  remove({ id, space }: EmbeddingModel): void {
    this.rows.remove(id);
    this.abandonSpace(space);
  }

  abandonSpace(space: number): void {
    this.dropped.put(space, 0);
  }

  forgetDropped(space: number): void {
    this.dropped.remove(space);
  }

  activate(id: string): void {
    this.active.put('id', id);
  }

  pauseFill(paused: boolean): void {
    if (paused) this.active.put('paused', '');
    else this.active.remove('paused');
  }
}
