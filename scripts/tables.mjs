import { describeSettings } from '../apps/server/dist/config/config.js'
import {
  errorCatalogue,
  roles,
  roleTexts,
  workspacePermissions,
} from '../packages/contract/dist/index.js'

const settings = describeSettings()

/** Files with a table between the comments `<!-- begin: name -->` and `<!-- end: name -->`. */
export const tables = [
  fileWith('docs/guides/configuration.md', 'settings', [
    ['Variable', 'Meaning', 'Default', 'Accepts'],
    ...settings.map((each) => [code(each.name), each.meaning, each.default, each.type]),
  ]),
  fileWith('docs/guides/errors.md', 'errors', [
    ['Type', 'Status', 'Meaning'],
    ...Object.entries(errorCatalogue)
      .sort(([, a], [, b]) => a.status - b.status)
      .map(([type, { status, meaning }]) => [code(type), String(status), meaning]),
  ]),
  fileWith('docs/guides/team.md', 'roles', [
    ['Role', 'What it may do'],
    ...roles.map((role) => [role, roleTexts[role]]),
  ]),
  fileWith('docs/guides/team.md', 'permissions', [
    ['Permission', 'Allows to', ...roles],
    ...Object.entries(workspacePermissions).map(([name, permission]) => [
      code(name),
      permission.allows,
      ...roles.map((role) => (permission.roles.includes(role) ? 'yes' : '')),
    ]),
  ]),
]

function fileWith(path, name, rows) {
  return {
    path,
    write(text) {
      const [begin, end] = [`<!-- begin: ${name} -->`, `<!-- end: ${name} -->`]
      const from = text.indexOf(begin)
      const to = text.indexOf(end)
      if (from < 0 || to < from) throw new Error(`${path} needs the lines ${begin} and ${end}`)
      return `${text.slice(0, from + begin.length)}\n\n${tableOf(rows)}\n\n${text.slice(to)}`
    },
  }
}

/** Columns are padded, so that the source of the table is readable too. */
function tableOf(rows) {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll(/[|*]/g, '\\$&')))
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  const rule = widths.map((width) => '-'.repeat(width))
  const [head, ...body] = cells
  return [head, rule, ...body].map(line).join('\n')
}

function code(text) {
  return `\`${text}\``
}
