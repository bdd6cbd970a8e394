import fc from 'fast-check'

/** The inputs that the suite is judged by: the same in every run, so that no run fails by chance. */
const usualSeed = 20_261_121

/**
 * The settings of every property of the suite. A run that hangs and a long search for the smallest
 * counterexample both end before the test does, so that a failure shows its reason.
 */
fc.configureGlobal({
  seed: chosenSeed(process.env.BOTSTEAD_TEST_SEED),
  // One input takes long where the machine stands still.
  timeout: 120_000,
  interruptAfterTimeLimit: 45_000,
  // On a slow machine fewer inputs are tried; that is no failure of what was tested.
  markInterruptAsFailure: false,
})

/** @param wanted a whole number, `random` for new inputs in each run, or nothing for the usual ones */
function chosenSeed(wanted: string | undefined): number {
  if (wanted === undefined || wanted === '') return usualSeed
  const seed = wanted === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(wanted)
  if (!Number.isInteger(seed)) throw new Error(`BOTSTEAD_TEST_SEED is no whole number: ${wanted}`)
  return seed
}
