import type { RootContent } from 'mdast'
import { append } from '../document/append.js'
import type { Extraction, Source } from '../document/extraction.js'
import { requireLines, requireReadable } from '../document/limits.js'
import { heading, paragraph } from '../document/nodes.js'
import type { Omissions } from '../document/omissions.js'
import { toParagraphs } from '../document/text-blocks.js'
import { decodeSource } from './decode.js'
import { parseHtmlFragment, textOf } from './html-tree.js'
import { type Property, toProperties, unescaped } from './properties.js'

/** Maximum ratio of the length of a calendar to its text: time zones, identifiers and alarms. */
const maxMarkupRatio = 8

const shownComponents: ReadonlySet<string> = new Set(['VEVENT', 'VTODO', 'VJOURNAL'])

/** Reads a calendar: its events and tasks with time, place and people. */
export async function extract(source: Source): Promise<Extraction> {
  const text = requireReadable(decodeSource(source), source, maxMarkupRatio)
  requireLines(text)
  return { root: { type: 'root', children: readCalendar(text, 1, source.omissions) } }
}

/**
 * @param level of the headings, which are the summaries of the events
 * @param omissions learns the files that are inside of events
 */
export function readCalendar(text: string, level: number, omissions?: Omissions): RootContent[] {
  const nodes: RootContent[] = []
  let method = ''
  const path: string[] = []
  let open: Property[] = []
  for (const property of toProperties(text)) {
    if (property.name === 'BEGIN') path.push(property.value.toUpperCase())
    if (property.name === 'END') {
      if (shownComponents.has(path.at(-1) ?? '')) {
        append(nodes, toNodes(open, method, level))
        for (const file of open.filter(isEmbedded)) reportFile(file, omissions)
        open = []
      }
      path.pop()
    }
    // Parts of an event, such as alarms, are not about it.
    if (shownComponents.has(path.at(-1) ?? '')) open.push(property)
    if (path.length === 1 && property.name === 'METHOD') method = property.value.toUpperCase()
  }
  return nodes
}

function reportFile({ parameters }: Property, omissions: Omissions | undefined): void {
  const named = /;(?:X-)?FILENAME="?([^";:]+)/i.exec(parameters)?.[1]
  const type = /;FMTTYPE="?([^";:]+)/i.exec(parameters)?.[1] ?? 'attachment'
  omissions?.add('embedded_file', { part: named ?? type }, { detail: type })
}

function toNodes(properties: readonly Property[], method: string, level: number): RootContent[] {
  const all = (name: string) => properties.filter((property) => property.name === name)
  const text = (name: string) => unescaped(all(name)[0]?.value ?? '')
  const isCancelled = method === 'CANCEL' || text('STATUS').toUpperCase() === 'CANCELLED'
  const fields = {
    Status: isCancelled ? 'cancelled' : '',
    When: [all('DTSTART')[0], all('DTEND')[0]].flatMap((time) => toTime(time)).join(' – '),
    Duration: toDuration(text('DURATION')),
    Due: toTime(all('DUE')[0]).join(''),
    Repeated: text('RRULE'),
    Also: all('RDATE').flatMap(toTimes).join(', '),
    Except: all('EXDATE').flatMap(toTimes).join(', '),
    Where: text('LOCATION'),
    Organizer: all('ORGANIZER').map(toPerson).join(', '),
    Attendees: all('ATTENDEE').map(toPerson).join(', '),
    Contact: all('CONTACT')
      .map(({ value }) => unescaped(value))
      .join(', '),
    Resources: text('RESOURCES'),
    Categories: text('CATEGORIES'),
    Address: text('URL'),
    Conference: addressesOf(all('CONFERENCE')),
    Attachments: addressesOf(all('ATTACH').filter((each) => !isEmbedded(each))),
  }
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === '' ? [] : `${name}: ${value}`,
  )
  const summary = text('SUMMARY').replace(/\s+/g, ' ')
  return [
    ...(summary === '' ? [] : [heading(level, summary)]),
    ...(lines.length === 0 ? [] : [paragraph(lines.join('\n'))]),
    ...['DESCRIPTION', 'COMMENT'].flatMap((name) =>
      all(name).flatMap(({ value }) => toParagraphs(unescaped(value))),
    ),
    ...(text('DESCRIPTION') === '' ? toParagraphs(pageText(all('X-ALT-DESC')[0])) : []),
  ]
}

function addressesOf(properties: readonly Property[]): string {
  return properties.map(({ value }) => value.trim()).join(', ')
}

/** Whether an attachment is in the calendar itself. */
function isEmbedded({ name, parameters }: Property): boolean {
  return name === 'ATTACH' && /;(?:ENCODING=BASE64|VALUE=BINARY)\b/i.test(parameters)
}

/** The text of a description that is a page. */
function pageText(property: Property | undefined): string {
  if (property === undefined) return ''
  const page = parseHtmlFragment(
    unescaped(property.value).replace(/<(?:br|\/p|\/div|\/li)\b/gi, '\n$&'),
  )
  return textOf(page).trim()
}

/** `20240105T090000Z` as people write it, with its time zone. */
function toTime(property: Property | undefined): string[] {
  if (property === undefined) return []
  const [, year, month, day, hour, minute, isUtc] =
    /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{0,2}(Z)?)?$/.exec(property.value.trim()) ?? []
  if (year === undefined) return property.value.trim() === '' ? [] : [property.value.trim()]
  const date = `${year}-${month}-${day}`
  if (hour === undefined) return [date]
  const zone = isUtc === undefined ? /;TZID="?([^";:]+)/i.exec(property.parameters)?.[1] : 'UTC'
  return [`${date} ${hour}:${minute}${zone === undefined ? '' : ` ${zone}`}`]
}

/** The times of a list: those on which an event is repeated, or is not. */
function toTimes({ parameters, value, name }: Property): string[] {
  return value.split(',').flatMap((each) => toTime({ name, parameters, value: each }))
}

/** `P0DT1H30M0S` as people write it: `1 h 30 min`. */
function toDuration(value: string): string {
  const found =
    /^\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/i.exec(
      value,
    )
  if (found === null) return value
  const units = ['weeks', 'days', 'h', 'min', 's']
  const parts = found.slice(1).flatMap((amount, at) => {
    const count = Number(amount ?? 0)
    const unit = units[at] ?? ''
    return count === 0 ? [] : [`${count} ${count === 1 ? unit.replace(/(?<=...)s$/, '') : unit}`]
  })
  return parts.join(' ')
}

function toPerson({ parameters, value }: Property): string {
  const address = value.replace(/^mailto:/i, '').trim()
  const [, quoted, plain] = /;CN=(?:"([^"]*)"|([^";:]*))/i.exec(parameters) ?? []
  const name = (quoted ?? plain ?? '').trim()
  return name === '' || name === address ? address : `${name} <${address}>`
}
