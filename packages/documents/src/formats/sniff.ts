const HEAD = 4096
const OFFICE = 'application/vnd.openxmlformats-officedocument'

/** Folders by which Office documents are told apart; each has exactly one of them. */
const OFFICE_FOLDERS: readonly [string, string][] = [
  ['word/', `${OFFICE}.wordprocessingml.document`],
  ['ppt/', `${OFFICE}.presentationml.presentation`],
  ['xl/', `${OFFICE}.spreadsheetml.sheet`],
]

/** The media type of a document whose name and type say nothing, by its bytes. */
export function sniff(bytes: Uint8Array): string | undefined {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = content.subarray(0, HEAD).toString('latin1')
  // Programs put a few bytes before the mark, and readers look for it.
  if (head.slice(0, 1024).includes('%PDF-')) return 'application/pdf'
  if (!head.startsWith('PK\x03\x04')) return undefined
  const stated = /mimetype(application\/[\w.+-]+?)PK/.exec(head)?.[1]
  if (stated !== undefined) return stated
  // Names of parts stand in the list at the end of an archive.
  const list = content.subarray(Math.max(0, content.length - 65_536)).toString('latin1')
  return OFFICE_FOLDERS.find(([folder]) => list.includes(folder))?.[1]
}
