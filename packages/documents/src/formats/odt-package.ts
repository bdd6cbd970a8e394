import { damaged, passwordProtected, type Source } from '../document/extraction.js'
import { toTitle } from '../document/nodes.js'
import { type Archive, openArchive } from './archive.js'
import { findElements, parseXml, textContent } from './xml.js'

export const styleElements: readonly string[] = [
  'font-face',
  'style',
  'list-style',
  'outline-style',
]

/**
 * Opens an OpenDocument file.
 *
 * @param what the format with its article, for the error message
 * @throws ExtractionError if it is protected by a password or has no content
 */
export async function openOpenDocument(source: Source, what: string): Promise<Archive> {
  const archive = await openArchive(source, what)
  if (!archive.has('content.xml')) throw damaged(what, new Error('its content is missing'))
  if (await isEncrypted(archive)) throw passwordProtected(what)
  return archive
}

/** The title in the properties of the document, if somebody chose one. */
export async function statedTitle(archive: Archive): Promise<string | undefined> {
  if (!archive.has('meta.xml')) return undefined
  const meta = parseXml(await archive.read('meta.xml'), 'meta')
  return toTitle(textContent(findElements(meta, 'title')[0]))
}

async function isEncrypted(archive: Archive): Promise<boolean> {
  if (!archive.has('META-INF/manifest.xml')) return false
  const manifest = parseXml(await archive.read('META-INF/manifest.xml'), 'manifest')
  return findElements(manifest, 'encryption-data').length > 0
}
