import { type Archive, openArchive } from './archive.js'
import { damaged } from './damaged.js'
import { ExtractionError } from './extraction-error.js'
import type { Source } from './extractor.js'
import { attribute, elements, parseXml, type XmlElement } from './xml.js'

/** A relation of one part of an Office document to another, or to an address outside. */
interface Relation {
  /** Last word of its type, such as `slide` or `hyperlink`. */
  type: string
  /** Name of a part, or the address when it is external. */
  target: string
  external: boolean
}

/** An Office document: parts and the relations between them. */
export interface OfficePackage {
  archive: Archive
  /** Name of the part that everything begins with. */
  main: string
  /** Relations of a part by their ids. */
  relations(part: string): Promise<Map<string, Relation>>
  /** A part that one relation of this type leads to, if there is any. */
  related(part: string, type: string): Promise<string | undefined>
  /** A small part as one element. */
  parse(part: string, root: string): Promise<XmlElement>
}

/**
 * @param what the format with its article, for the reason when it cannot be read
 * @throws ExtractionError if it is not an Office document
 */
export async function openOffice(source: Source, what: string): Promise<OfficePackage> {
  requireNotEncrypted(source.bytes, what)
  const archive = await openArchive(source, what)
  const opened: Omit<OfficePackage, 'main'> = {
    archive,
    async relations(part) {
      const name = relationsOf(part)
      if (!archive.has(name)) return new Map()
      const root = parseXml(await archive.read(name), 'Relationships')
      return new Map(
        elements(root, 'Relationship').map((each) => [
          attribute(each, 'Id') ?? '',
          toRelation(part, each),
        ]),
      )
    },
    async related(part, type) {
      const relations = [...(await opened.relations(part)).values()]
      const found = relations.find((relation) => relation.type === type && !relation.external)
      return found !== undefined && archive.has(found.target) ? found.target : undefined
    },
    parse: async (part, root) => parseXml(await archive.read(part), root),
  }
  const main = await opened.related('', 'officeDocument')
  if (main === undefined) throw damaged(what, new Error('its main part is missing'))
  return { ...opened, main }
}

/** Turns whatever a broken part makes a reader throw into a reason for the author. */
export async function readingAs<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ExtractionError || isOverflow(error)) throw error
    throw damaged(what, error)
  }
}

function isOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message)
}

/** An encrypted document is no ZIP archive but of the older container format. */
function requireNotEncrypted(bytes: Uint8Array, what: string): void {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 8))
  if (head.toString('hex') !== 'd0cf11e0a1b11ae1') return
  throw new ExtractionError(
    'protected',
    `The file is not ${what} of today: it is protected by a password or in the format from before 2007. ` +
      'Save it anew without a password in the current format and upload it again.',
  )
}

function relationsOf(part: string): string {
  const slash = part.lastIndexOf('/') + 1
  return `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`
}

function toRelation(part: string, element: XmlElement): Relation {
  const type = attribute(element, 'Type')?.split('/').at(-1) ?? ''
  const target = attribute(element, 'Target') ?? ''
  const external = attribute(element, 'TargetMode') === 'External'
  return { type, external, target: external ? target : resolvePart(part, target) }
}

/** The name of a part that another one names, relative to itself or to the root. */
export function resolvePart(from: string, target: string): string {
  const path = target.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const step of target.split('/')) {
    if (step === '..') path.pop()
    else if (step !== '' && step !== '.') path.push(step)
  }
  return path.join('/')
}
