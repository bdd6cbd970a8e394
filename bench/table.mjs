// Prints the result for people: figure, reference, ratio and budget.

/** @param {{ work: string, figure: string, against?: string, ratio?: number, budget?: number }[]} rows */
export function printTable(rows) {
  const lines = rows.map(({ work, figure, against, ratio, budget }) => [
    work,
    figure,
    against ?? '',
    ratio === undefined ? '' : ratio.toFixed(2),
    budget === undefined ? '' : `at least ${budget}`,
    budget === undefined ? '' : ratio >= budget ? 'ok' : 'MISSED',
  ])
  const head = ['work', 'figure', 'against', 'ratio', 'budget', '']
  const widths = head.map((_, column) =>
    Math.max(...[head, ...lines].map((line) => line[column].length)),
  )
  for (const line of [head, ...lines]) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
  }
}
