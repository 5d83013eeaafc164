/** Embedding models known to the store. Databases: `models` id → row; `active_model` 'id' → id. */
import type { Database } from 'lmdb';
import type { EmbeddingModel } from '../domain/model.ts';
import type { Environment } from './environment.ts';

export class ModelReader {
  protected readonly rows: Database<EmbeddingModel, string>;
  protected readonly active: Database<string, string>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('models', {});
    this.active = environment.openDatabase('active_model', {});
  }

  get(id: string): EmbeddingModel | undefined {
    return this.rows.get(id);
  }

  all(): EmbeddingModel[] {
    return [...this.rows.getRange()].map(({ value }) => value);
  }

  activeId(): string | null {
    return this.active.get('id') ?? null;
  }
}

/** Writer only: valid inside a transaction. */
export class ModelTransactor extends ModelReader {
  put(model: EmbeddingModel): void {
    this.rows.put(model.id, model);
  }

  activate(id: string): void {
    this.active.put('id', id);
  }
}
