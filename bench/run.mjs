// Figures of one run on one machine, each as a ratio to a reference of the same run.
// npm run bench                   all groups
// npm run bench -- chat           only the parts and groups whose names are given
// npm run bench -- --smallest     whether they work, within seconds each; the figures mean nothing
// npm run bench -- --list         the names of all parts
import { groups, parts } from './parts.mjs'
import { createRunFolder, endPrograms } from './programs.mjs'
import { isSmallest } from './size.mjs'
import { isMissed, printTable, requireFigures } from './table.mjs'

const options = ['--smallest', '--list']
const given = process.argv.slice(2)
const names = given.filter((name) => !options.includes(name))
const unknown = names.filter((name) => !(Object.hasOwn(parts, name) || Object.hasOwn(groups, name)))
if (unknown.length > 0) {
  const known = [...new Set([...Object.keys(groups), ...Object.keys(parts)]), ...options]
  console.error(`There is no part ${unknown.join(', ')}; there are ${known.join(', ')}.`)
  process.exit(1)
}
if (given.includes('--list')) {
  console.log(Object.keys(parts).join('\n'))
  process.exit(0)
}

const wanted = new Set((names.length > 0 ? names : Object.keys(groups)).flatMap(membersOf))
/** @type {import('./table.mjs').Row[]} */
const rows = []
try {
  const folder = await createRunFolder()
  for (const name of wanted) {
    console.error(`measuring ${name} ...`)
    const found = await parts[name]?.(folder)
    requireFigures(name, found ?? [])
    rows.push(...(found ?? []))
  }
} finally {
  // Also those of the parts before one that failed.
  printTable(isSmallest ? rows.map(({ budget, ...row }) => row) : rows)
  await endPrograms()
}
if (!isSmallest && rows.some(isMissed)) process.exitCode = 1

/** @param {string} name of a part or a group */
function membersOf(name) {
  return groups[name] ?? [name]
}
