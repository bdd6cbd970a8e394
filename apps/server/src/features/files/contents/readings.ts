import type { Omission, OmissionPlace, Reading } from '@botstead/documents'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { findFileById } from '../store.js'
import type { FileRow } from '../table.js'
import { deleteReading, findReading, putReading } from './reading-store.js'

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
 * The last reading of a file, whatever generation was read.
 *
 * @returns undefined if it is unknown
 */
export async function readingOf(
  db: Db,
  file: Pick<FileRow, 'id' | 'bot_id' | 'omissions'>,
): Promise<Reading | undefined> {
  if (file.omissions === null) return undefined
  if (file.omissions === 0) return { omissions: [] }
  const row = await findReading(db, file.bot_id, file.id)
  return row && decodeJson<Reading>(row.reading)
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
  const file = await findFileById(db, botId, fileId)
  if (file?.passages_generation !== generation || file.omissions === null) return undefined
  if (file.omissions === 0) return { omissions: [] }
  const row = await findReading(db, botId, fileId)
  return row?.generation === generation ? decodeJson<Reading>(row.reading) : undefined
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
  return {
    kind,
    count: Math.min(maxCount, count),
    places: omission.places.slice(0, places).map(toBoundedPlace),
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

/** A reader may have cut a name within a character. */
function cut(text: string): string {
  const kept = text.length <= maxNameLength ? text : `${text.slice(0, maxNameLength - 1)}…`
  return kept.toWellFormed()
}
