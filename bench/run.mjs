// Figures of one run on one machine, each as a ratio to a reference of the same run.
// npm run bench            everything
// npm run bench -- chat    only the parts whose names are given
import { parts, pieces } from './parts.mjs'
import { createRunFolder, endPrograms } from './programs.mjs'
import { printTable } from './table.mjs'

const wanted = process.argv.slice(2)
const known = { ...parts, ...pieces }
const unknown = wanted.filter((name) => !(name in known))
if (unknown.length > 0) {
  console.error(
    `There is no part ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')}.`,
  )
  process.exit(1)
}

const folder = await createRunFolder()
try {
  const rows = []
  for (const name of wanted.length > 0 ? wanted : Object.keys(parts)) {
    console.error(`measuring ${name} ...`)
    rows.push(...(await known[name](folder)))
  }
  printTable(rows)
  if (rows.some(({ budget, ratio }) => budget !== undefined && ratio < budget)) process.exitCode = 1
} finally {
  await endPrograms()
}
