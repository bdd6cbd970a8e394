import { createHash } from 'node:crypto'
import { storableText } from '../../../platform/db/columns.js'
import type { IssueRow } from './store.js'

/** A report of a problem, by the code itself or by this server. */
export interface IssueReport {
  code: string
  category: string
  title: string
  description: string
  /** Details by name. */
  data: IssueData
  /** Names in `data` whose values distinguish problems. Without any, title and place in the stack do. */
  groupBy: readonly string[]
}

export type IssueData = Readonly<Record<string, { raw: string; pretty?: string }>>

/** A report in the form that is stored. */
export type StoredReport = Pick<
  IssueRow,
  'fingerprint' | 'code' | 'category' | 'title' | 'description'
> & { groupedData: IssueData; data: IssueData }

/** Maximum characters of each text. */
const maxLength = { code: 100, title: 200, description: 4000, name: 100 }
/** Maximum bytes of the data of one event, and of the data that is common to all events of an issue. */
const maxBytes = { data: 131_072, groupedData: 16_384 }
/** Maximum number of names that a report may group by; others are ignored. */
const maxGroups = 10

/** Cuts a report to its limits, and adds the fingerprint by which reports of the same problem are found. */
export function toStored(report: IssueReport): StoredReport {
  const code = textOf(report.code, maxLength.code)
  const title = textOf(report.title, maxLength.title)
  const description = textOf(report.description, maxLength.description)
  const data = dataOf(report.data, maxBytes.data)
  const { grouped, distinction } = groupingOf(report, title)
  return {
    fingerprint: createHash('sha256')
      .update(JSON.stringify([code, distinction]))
      .digest('hex'),
    code,
    category: categoryOf(report.category),
    title,
    description,
    groupedData: dataOf(grouped, maxBytes.groupedData),
    data,
  }
}

/**
 * The key by which reports of one problem are grouped: the values that the report groups by, or its title and its place in the
 * stack.
 */
function groupingOf(
  { groupBy, data, description }: IssueReport,
  title: string,
): { grouped: IssueData; distinction: unknown[] } {
  const names = groupBy.filter((name) => Object.hasOwn(data, name)).slice(0, maxGroups)
  if (names.length > 0) {
    const grouped = Object.fromEntries(
      names.flatMap((name) => {
        const value = data[name]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const distinction = Object.entries(grouped).map(([name, { raw }]) => [name, raw])
    return { grouped, distinction: distinction.sort() }
  }
  const place = placeIn(description)
  return {
    grouped: place === undefined ? {} : { place: { raw: place } },
    distinction: [normalised(title), place ?? ''],
  }
}

/** Replaces the ids and numbers in a text, which differ each time that a problem happens. */
function normalised(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>')
    .replaceAll(/\b[a-z]{1,20}_[0-9A-Z]{26}\b/g, '<id>')
    .replaceAll(/\b(?=[a-f]{0,40}\d)[0-9a-f]{8,}\b/gi, '<id>')
    .replaceAll(/\d+/g, '<n>')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The origin of an error: the first function in its stack that is not one of Node. */
function placeIn(description: string): string | undefined {
  const frames = description.split('\n').filter((line) => /^\s{1,20}at /.test(line))
  const own = frames.find((line) => !line.includes('node:')) ?? frames[0]
  return own === undefined ? undefined : normalised(own.slice(0, 300))
}

function categoryOf(given: string): IssueRow['category'] {
  switch (given) {
    case 'user_code':
    case 'limits':
    case 'configuration':
      return given
    default:
      return 'other'
  }
}

function textOf(given: string, length: number): string {
  return storableText(given.slice(0, length))
}

/** As many values as fit into some bytes of JSON; the last one may be cut. */
function dataOf(given: IssueData, bytes: number): IssueData {
  const kept: Record<string, { raw: string; pretty?: string }> = {}
  let left = bytes
  for (const [name, { raw, pretty }] of Object.entries(given)) {
    const shown = textOf(name, maxLength.name)
    const value = { raw, ...(pretty !== undefined && { pretty }) }
    const size = Buffer.byteLength(JSON.stringify([shown, value]))
    if (size > left) {
      // A character has at most six bytes in JSON.
      const rest = textOf(raw, Math.max(0, Math.floor((left - 200) / 6)))
      if (rest !== '') kept[shown] = { raw: rest }
      break
    }
    kept[shown] = {
      raw: textOf(raw, raw.length),
      ...(pretty !== undefined && { pretty: textOf(pretty, pretty.length) }),
    }
    left -= size
  }
  return kept
}
