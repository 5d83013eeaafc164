// One seed for every property test, so that the same commit passes or fails alike everywhere. READBACK_TEST_SEED sets another
// (a number), or `random` for a new one each time; a failing property prints the seed that it ran with.
import fc from 'fast-check';

const given = process.env.READBACK_TEST_SEED ?? '20201';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });
