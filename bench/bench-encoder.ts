/** The encoder that is shipped, for benches that make vectors themselves. Close it, or its process keeps the bench running. */
import { builtInModel } from '../src/domain/model.ts';
import { Encoder } from '../src/encoder/encoder.ts';

export function openBenchEncoder(): Encoder {
  const say = (fields: object, message: string) => console.error(message, JSON.stringify(fields));
  return new Encoder({ dim: builtInModel.dim, log: { info: say, warn: say } });
}
