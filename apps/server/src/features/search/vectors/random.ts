/** Pseudorandom numbers that are the same in every run. */
export interface Random {
  /** From 0 up to 1, exclusive. */
  uniform(): number
  /** Normally distributed around 0, with variance 1. */
  normal(): number
}

/** @param seed a whole number; the same seed gives the same numbers */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  return { uniform, normal }
}
