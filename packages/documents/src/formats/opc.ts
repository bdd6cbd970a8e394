import { damaged, ExtractionError, type Source } from '../document/extraction.js'
import { toTitle } from '../document/nodes.js'
import { type Archive, openArchive } from './archive.js'
import { attribute, descend, elements, parseXml, textContent, type XmlElement } from './xml.js'

/** A reference from one part of an Office document to another part or to an external address. */
interface Relation {
  /** Last segment of its type, such as `slide` or `hyperlink`. */
  type: string
  /** Name of a part, or the external address. */
  target: string
  external: boolean
}

/** Relations of a part by their ids. */
export type Relations = ReadonlyMap<string, Relation>

/** An Office document (Open Packaging Conventions): parts and the relations between them. */
export interface OfficePackage {
  /** Its parts. Names are compared as the standard says, see {@link openParts}. */
  archive: Archive
  /** Name of the main part, such as `word/document.xml`. */
  main: string
  relations(part: string): Promise<Relations>
  /** The part that the first internal relation of this type refers to, if it exists. */
  related(part: string, type: string): Promise<string | undefined>
  /** Names of parts that `related` looked for and that are missing although a relation refers to them. */
  readonly missing: ReadonlySet<string>
  /** Reads a small part as one element. */
  parse(part: string, root: string): Promise<XmlElement>
}

/**
 * Opens an Office document.
 *
 * @param what the format with its article, for the error message
 * @throws ExtractionError if it is not an Office document
 */
export async function openOffice(source: Source, what: string): Promise<OfficePackage> {
  requireNotEncrypted(source.bytes, what)
  const archive = openParts(await openArchive(source, what))
  const missing = new Set<string>()
  const opened: Omit<OfficePackage, 'main'> = {
    archive,
    missing,
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
      if (found === undefined) return undefined
      if (archive.has(found.target)) return found.target
      missing.add(found.target)
      return undefined
    },
    parse: async (part, root) => parseXml(await archive.read(part), root),
  }
  const main = await opened.related('', 'officeDocument')
  if (main === undefined) throw damaged(what, new Error('its main part is missing'))
  return { ...opened, main }
}

/**
 * The parts of an archive under names as the Open Packaging Conventions compare them: without regard to case,
 * to encoded characters (`%20`), to a slash at the beginning and to backslashes, which some programs write.
 */
export function openParts(archive: Archive): Archive {
  const names = new Map<string, string>()
  for (const name of archive.names) {
    const key = partKey(name)
    if (!names.has(key)) names.set(key, name)
  }
  const find = (name: string) => (archive.has(name) ? name : names.get(partKey(name)))
  return {
    names: archive.names,
    has: (name) => find(name) !== undefined,
    read: (name) => archive.read(find(name) ?? name),
  }
}

function partKey(name: string): string {
  const path = name.replaceAll('\\', '/').replace(/^\/+/, '')
  try {
    return decodeURIComponent(path).toLowerCase()
  } catch {
    return path.toLowerCase()
  }
}

/** An encrypted document is in the container format from before 2007, not a ZIP archive. */
function requireNotEncrypted(bytes: Uint8Array, what: string): void {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 8))
  if (head.toString('hex') !== 'd0cf11e0a1b11ae1') return
  throw new ExtractionError(
    'protected',
    `The file is not ${what}: it is protected by a password, or in the format from before 2007. ` +
      'Save it without a password in the current format and upload it again.',
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

/** Resolves a reference of a part to another one, which is relative to the part or to the root. */
export function resolvePart(from: string, target: string): string {
  const reference = target.replaceAll('\\', '/')
  const path = reference.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const step of reference.split('/')) {
    if (step === '..') path.pop()
    else if (step !== '' && step !== '.') path.push(step)
  }
  return path.join('/')
}

/** The title in the properties of an Office document, if somebody chose one. */
export async function documentTitle(office: OfficePackage): Promise<string | undefined> {
  const part = await office.related('', 'core-properties')
  if (part === undefined) return undefined
  const properties = parseXml(await office.archive.read(part), 'coreProperties')
  return toTitle(textContent(descend(properties, 'title')))
}

/** The alternative text of a picture, unless it is only the name of a file. */
export function altTextOf(properties: XmlElement | undefined): string | undefined {
  const text = (attribute(properties, 'descr') ?? '').replace(/\s+/g, ' ').trim()
  return text === '' || /^\S+\.(png|jpe?g|gif|svg|emf|wmf|bmp|tiff?)$/i.test(text)
    ? undefined
    : text
}
