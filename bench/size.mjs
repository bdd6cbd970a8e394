// The size of a measurement. With `--smallest` each part runs to its end within seconds: its figures mean nothing, but
// the run shows which parts no longer work.
export const isSmallest = process.argv.includes('--smallest')

/**
 * The one of two amounts that is wanted.
 * @template Amount
 * @param {Amount} full
 * @param {Amount} smallest
 */
export function sized(full, smallest) {
  return isSmallest ? smallest : full
}

/**
 * An amount that a variable of the environment may set.
 * @param {string} variable
 * @param {number} full
 * @param {number} smallest
 * @throws Error if the variable is no positive number
 */
export function givenAmount(variable, full, smallest) {
  const given = process.env[variable]
  if (given === undefined) return sized(full, smallest)
  const amount = Number(given)
  if (!(amount > 0 && Number.isFinite(amount))) {
    throw new Error(`${variable} must be a positive number, and is '${given}'`)
  }
  return amount
}
