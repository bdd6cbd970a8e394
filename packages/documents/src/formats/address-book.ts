import { isUtf8 } from 'node:buffer'
import type { RootContent } from 'mdast'
import { append } from '../document/append.js'
import type { Extraction, Source } from '../document/extraction.js'
import {
  createTextLimit,
  requireLines,
  requirePieces,
  requireReadable,
} from '../document/limits.js'
import { heading, paragraph } from '../document/nodes.js'
import type { Omissions } from '../document/omissions.js'
import { toParagraphs } from '../document/text-blocks.js'
import { decodeSource } from './decode.js'
import { type Property, toProperties, unescaped } from './properties.js'

/** Maximum ratio of the length of an address book to its text: pictures and keys of people. */
const maxMarkupRatio = 40
/** Each person is at least one passage. */
const maxCards = 100_000

/** Properties with their names for people, in the order in which they are shown. */
const fields: readonly (readonly [property: string, label: string])[] = [
  ['NICKNAME', 'Nickname'],
  ['ORG', 'Organization'],
  ['TITLE', 'Title'],
  ['ROLE', 'Role'],
  ['TEL', 'Telephone'],
  ['EMAIL', 'E-mail'],
  ['IMPP', 'Messenger'],
  ['ADR', 'Address'],
  ['LABEL', 'Label'],
  ['URL', 'Web'],
  ['BDAY', 'Birthday'],
  ['ANNIVERSARY', 'Anniversary'],
  ['GENDER', 'Gender'],
  ['LANG', 'Language'],
  ['RELATED', 'Related'],
  ['MEMBER', 'Member'],
  ['CATEGORIES', 'Categories'],
  ['GEO', 'Position'],
  ['TZ', 'Time zone'],
]
const labels: ReadonlyMap<string, string> = new Map(fields)
/** Properties that are about the card, or stand elsewhere in the text. */
const unshown: ReadonlySet<string> = new Set(
  'BEGIN END VERSION FN N NOTE PRODID REV UID SOURCE KIND MAILER SORT-STRING CLASS PROFILE NAME XML CLIENTPIDMAP KEY X-ABLABEL X-ABADR X-ABSHOWAS'.split(
    ' ',
  ),
)
/** Properties of which the parts, such as street and place, are separated by semicolons. */
const structured: ReadonlySet<string> = new Set(['ADR', 'N', 'ORG', 'GENDER'])
const files: ReadonlySet<string> = new Set(['PHOTO', 'LOGO', 'SOUND'])

/** Reads an address book: each person or organization with its numbers, addresses and notes. */
export async function extract(source: Source): Promise<Extraction> {
  const text = requireReadable(decodeSource(source), source, maxMarkupRatio)
  requireLines(text)
  const count = createTextLimit(source)
  if (isDirectory.test(text)) return readDirectory(text, count)
  const children: RootContent[] = []
  let open: Property[] = []
  let cards = 0
  for (const property of toProperties(withoutData(text))) {
    open.push(property)
    if (property.name !== 'END') continue
    cards += 1
    requirePieces(cards, 'people', maxCards)
    append(children, toCard(open, count, source.omissions))
    open = []
  }
  append(children, toCard(open, count, source.omissions))
  return { root: { type: 'root', children } }
}

const isDirectory = /^(?:version: \d+\n|#[^\n]*\n|\n)*dn::? /i

/** Reads an export of a directory (LDIF): a section for each entry, under its name. */
function readDirectory(text: string, count: (text: string) => void): Extraction {
  const children: RootContent[] = []
  const entries = text
    .replace(/\n /g, '')
    .split(/\n\s*\n/)
    .filter((entry) => /^dn:/im.test(entry))
  requirePieces(entries.length, 'entries', maxCards)
  for (const entry of entries) {
    const lines = entry.split('\n').flatMap(toAttribute)
    const called = ['cn', 'displayname', 'ou', 'dn'].flatMap(
      (name) => lines.find((line) => line.name.toLowerCase() === name)?.value ?? [],
    )
    const shown = lines.map(({ name, value }) => `${name}: ${value}`).join('\n')
    const title = called[0] ?? ''
    count(title + shown)
    children.push(heading(1, title), paragraph(shown))
  }
  return { root: { type: 'root', children } }
}

/** A line of an entry; values with letters beyond ASCII, behind two colons, are in Base64. */
function toAttribute(line: string): { name: string; value: string }[] {
  const [, name, mark, value = ''] = /^([\w;.-]{1,200})(::?)[ <]*(.*)$/.exec(line) ?? []
  if (name === undefined || value === '') return []
  if (mark === ':') return [{ name, value }]
  const bytes = Buffer.from(value, 'base64')
  return isUtf8(bytes) && !bytes.includes(0) ? [{ name, value: bytes.toString().trim() }] : []
}

/** Without the lines of Base64 below a property, which version 2.1 does not fold. */
function withoutData(text: string): string {
  return text.replace(
    /(;(?:ENCODING=)?(?:BASE64|B)\b[^\n]*)((?:\n[ \t]?[\w+/=]{1,200}[ \t]*(?=\n|$))+)/gi,
    '$1',
  )
}

function toCard(
  card: readonly Property[],
  count: (text: string) => void,
  omissions: Omissions | undefined,
): RootContent[] {
  const first = (name: string) => card.find((property) => property.name === name)
  const [formal, called] = [first('N'), first('FN')]
  const name =
    textOf(called) || (formal === undefined ? '' : nameOf(formal)) || textOf(first('ORG'))
  for (const file of card.filter((each) => files.has(each.name) && !isAddress(each))) {
    omissions?.add('picture_without_text', { part: name }, { detail: file.name.toLowerCase() })
  }
  const lines = linesOf(card)
  const notes = card.filter((property) => property.name === 'NOTE').map(textOf)
  const title = name.replace(/\s+/g, ' ')
  for (const text of [title, ...lines, ...notes]) count(text)
  return [
    ...(title === '' ? [] : [heading(1, title)]),
    ...(lines.length === 0 ? [] : [paragraph(lines.join('\n'))]),
    ...notes.flatMap((note) => toParagraphs(note)),
  ]
}

/** The lines of a card, known properties first, then those that programs have added. */
function linesOf(card: readonly Property[]): string[] {
  const byName = new Map<string, Property[]>()
  for (const property of card) {
    byName.set(property.name, [...(byName.get(property.name) ?? []), property])
  }
  const names = [...labels.keys(), ...[...byName.keys()].filter((name) => !labels.has(name))]
  return names.flatMap((name) => {
    if (unshown.has(name)) return []
    const shown = (byName.get(name) ?? []).filter((each) => !files.has(name) || isAddress(each))
    return shown.flatMap((property) => {
      const value = textOf(property)
      if (value === '') return []
      const label = labels.get(name) ?? name.replace(/^X-/, '').toLowerCase().replaceAll('-', ' ')
      const kinds = kindsOf(property)
      return [`${label}${kinds === '' ? '' : ` (${kinds})`}: ${value}`]
    })
  })
}

/** `Dr. Ada King` for `King;Ada;;Dr.;`. */
function nameOf({ value }: Property): string {
  const [family, given, middle, before, after] = partsOf(value)
  return [before, given, middle, family, after].filter(Boolean).join(' ')
}

function textOf(property: Property | undefined): string {
  if (property === undefined) return ''
  if (!structured.has(property.name))
    return unescaped(property.value).replace(/^(?:tel|mailto):/i, '')
  return partsOf(property.value).filter(Boolean).join(', ').replaceAll('\n', ', ')
}

/** The parts of a value between semicolons that are not escaped. */
function partsOf(value: string): string[] {
  return (value.match(/(?:\\[\s\S]|[^;\\])+|;/g) ?? []).reduce<string[]>(
    (parts, piece) => {
      if (piece === ';') parts.push('')
      else parts[parts.length - 1] = unescaped(piece)
      return parts
    },
    [''],
  )
}

const plainKinds: ReadonlySet<string> = new Set(
  'pref internet voice x-internet uri text'.split(' '),
)

/** The kinds of a number or an address, such as `work, fax`. */
function kindsOf({ parameters }: Property): string {
  const kinds = [...parameters.matchAll(/;(?:TYPE=)?"?([\w,-]+)"?(?=;|$)/gi)].flatMap(
    ([, listed = '']) => listed.toLowerCase().split(','),
  )
  const told = kinds.filter((kind) => kind !== '' && !plainKinds.has(kind) && !isEncoding(kind))
  return [...new Set(told)].join(', ')
}

function isEncoding(kind: string): boolean {
  return /^(?:quoted-printable|base64|b|8bit|7bit)$/.test(kind)
}

/** Whether a picture is only linked. */
function isAddress({ parameters, value }: Property): boolean {
  return /^https?:/i.test(value.trim()) && !/;(?:ENCODING=)?(?:BASE64|B)\b/i.test(parameters)
}
