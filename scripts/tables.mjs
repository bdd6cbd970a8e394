import { describeSettings } from '../apps/server/dist/config.js'
import { errorCatalogue } from '../packages/contract/dist/index.js'

const settings = describeSettings()

/** Files with a table between the comments `<!-- begin: name -->` and `<!-- end: name -->`. */
export const tables = [
  fileWith('README.md', 'settings', [
    ['Variable', 'Default', 'Meaning'],
    ...settings.map((each) => [code(each.name), each.default, each.meaning]),
  ]),
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

function tableOf([head, ...rows]) {
  return [head, head.map(() => '---'), ...rows].map(rowOf).join('\n')
}

function rowOf(cells) {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function code(text) {
  return `\`${text}\``
}
