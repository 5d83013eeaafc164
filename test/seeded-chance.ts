/** Chance of a test that draws its moments: from a seed that it prints, READBACK_TEST_SEED (a number, or `random` for a new one each time). */
import { seededRandom } from '../src/compute/seeded-random.ts';

/** `standard`: the seed where none is set. Gives the seed, and numbers in [0, 1). */
export function seededChance(
  test: { diagnostic(message: string): void },
  standard: number,
): { seed: number; random: () => number } {
  const given = process.env.READBACK_TEST_SEED ?? String(standard);
  const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  test.diagnostic(`seed ${seed}`);
  return { seed, random: seededRandom(seed) };
}
