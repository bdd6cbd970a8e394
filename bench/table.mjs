// The result for people: figure, reference, ratio and budget.

/**
 * @typedef {object} Row
 * @property {string} work what is measured
 * @property {string} figure
 * @property {string} [against] the reference of the same run
 * @property {number} [ratio] to the reference; more is better
 * @property {number} [budget] the least ratio
 */

/**
 * A row of work that this machine cannot measure.
 * @param {string} work
 * @param {string} reason
 * @returns {Row}
 */
export function skipped(work, reason) {
  return { work, figure: `skipped: ${reason}` }
}

/**
 * Refuses rows that say nothing.
 * @param {string} part
 * @param {readonly Row[]} rows
 * @throws Error if there is no row, or if a figure or a ratio is not a finite number
 */
export function requireFigures(part, rows) {
  if (rows.length === 0) throw new Error(`${part} has no figures`)
  for (const { work, figure, against = '', ratio = 1 } of rows) {
    const texts = [work, figure, against]
    if (!Number.isFinite(ratio) || texts.some((text) => /NaN|Infinity|undefined|∞/.test(text))) {
      throw new Error(`${part}: '${work}' has no finite figure: ${figure}, ratio ${ratio}`)
    }
  }
}

/**
 * Whether a row misses its budget.
 * @param {Row} row
 */
export function isMissed({ budget, ratio = 0 }) {
  return budget !== undefined && ratio < budget
}

/** @param {readonly Row[]} rows */
export function printTable(rows) {
  const lines = rows.map((row) => [
    row.work,
    row.figure,
    row.against ?? '',
    row.ratio?.toFixed(2) ?? '',
    row.budget === undefined ? '' : `at least ${row.budget}`,
    row.budget === undefined ? '' : isMissed(row) ? 'MISSED' : 'ok',
  ])
  const all = [['work', 'figure', 'against', 'ratio', 'budget', ''], ...lines]
  const widths = [0, 1, 2, 3, 4, 5].map((column) =>
    Math.max(...all.map((line) => line[column]?.length ?? 0)),
  )
  for (const line of all) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

/** @param {{ perSecond: number }} figures */
export const rate = ({ perSecond }) => `${Math.round(perSecond).toLocaleString('en')} /s`

/** @param {{ perSecond: number, p50: number, p99: number }} figures */
export const waits = (figures) => `${rate(figures)}, p50 ${figures.p50} ms, p99 ${figures.p99} ms`
