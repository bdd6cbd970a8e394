import { type Omission, type OmissionPlace, type Reading, showable } from '@botstead/documents'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { findReadFileById, type ReadFileRow } from '../store.js'
import type { FileRow } from '../table.js'
import { deleteReading, putReading } from './reading-store.js'

/** Characters of the name of a place, and of a detail. */
const maxNameLength = 200
/** Bytes of a reading. Readers bound the number of places; their names may still be long. */
const maxReadingBytes = 16 * 1024
/** Fits into an integer column of both engines. */
const maxCount = 1_000_000_000

/** The number of things of a content that were not read; 0 if all of it was. */
export function countOmissions({ omissions, parts }: Reading): number {
  const sum = omissions.reduce((total, { count }) => total + count, 0)
  return Math.min(maxCount, Math.max(sum, parts?.unread ?? 0))
}

/**
 * Replaces the last reading of a file, whose row the caller has locked.
 *
 * @param reading undefined if it is unknown
 * @returns the column `omissions` of the file
 */
export async function replaceReading(
  tx: Tx,
  file: Pick<FileRow, 'id' | 'bot_id' | 'omissions'>,
  generation: number,
  reading: Reading | undefined,
): Promise<number | null> {
  const count = reading === undefined ? null : countOmissions(reading)
  if (reading !== undefined && count !== 0) {
    const row = { file_id: file.id, bot_id: file.bot_id, generation }
    await putReading(tx, { ...row, reading: encodeBounded(reading) })
  } else if (file.omissions !== null && file.omissions > 0) {
    await deleteReading(tx, file.bot_id, file.id)
  }
  return count
}

/**
 * The last reading of a file, of any generation.
 *
 * @param file with the reading from the same query: a later one may be about a content that the caller may not read
 * @returns undefined if it is unknown
 */
export function readingOf(file: Pick<ReadFileRow, 'omissions' | 'reading'>): Reading | undefined {
  if (file.omissions === 0) return { omissions: [] }
  if (file.omissions === null || file.reading === null) return undefined
  return decodeJson<Reading>(file.reading)
}

/**
 * The reading of the passages of a generation.
 *
 * @returns undefined if it is unknown, or if search finds other passages of the file by now
 */
export async function readingOfPassages(
  db: Db,
  { botId, fileId, generation }: { botId: string; fileId: string; generation: number },
): Promise<Reading | undefined> {
  const file = await findReadFileById(db, botId, fileId)
  if (file?.passages_generation !== generation) return undefined
  const isOfPassages = file.omissions === 0 || file.reading_generation === generation
  return isOfPassages ? readingOf(file) : undefined
}

function encodeBounded({ omissions, parts }: Reading): string {
  const encode = (places: number) =>
    encodeJson({
      ...(parts && { parts }),
      omissions: omissions.map((omission) => toBounded(omission, places)),
    })
  let places = Math.max(0, ...omissions.map((omission) => omission.places.length))
  let text = encode(places)
  while (places > 0 && Buffer.byteLength(text) > maxReadingBytes) {
    places = Math.floor(places / 2)
    text = encode(places)
  }
  return text
}

function toBounded(omission: Omission, places: number): Omission {
  const { kind, count, detail } = omission
  const hasMorePlaces = omission.hasMorePlaces === true || omission.places.length > places
  return {
    kind,
    count: Math.min(maxCount, count),
    places: omission.places.slice(0, places).map(toBoundedPlace),
    ...(hasMorePlaces && { hasMorePlaces }),
    ...(detail !== undefined && { detail: cut(detail) }),
  }
}

function toBoundedPlace({ sheet, part, ...numbers }: OmissionPlace): OmissionPlace {
  return {
    ...numbers,
    ...(sheet !== undefined && { sheet: cut(sheet) }),
    ...(part !== undefined && { part: cut(part) }),
  }
}

/** Names of files and texts of readers are shown by programs, on terminals and in browsers. */
function cut(text: string): string {
  const kept = text.length <= maxNameLength ? text : `${text.slice(0, maxNameLength - 1)}…`
  return showable(kept)
}
