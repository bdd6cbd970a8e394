import { createHash } from 'node:crypto'
import { ApiError, type Body, type contract } from '@botstead/contract'
import { noReference } from '../../domain/refusals.js'
import type { Db } from '../../platform/db/schema.js'
import { type FileRow, listFilesByIds } from '../files/lookup/index.js'
import {
  type AnchoredPassage,
  listAtPositions,
  listOfFile,
  listWithText,
  type PassagePosition,
} from '../search/index.js'

type TargetInput = Body<typeof contract.evaluationCases.create>['right'][number]

/** A passage as it was judged. Passages change with every indexing, so it is recognised by its text. */
interface PassageAnchor {
  /** UUID of the passage that had the text last. */
  id: string
  /** Its position in the file. */
  position: number
  /** SHA-256 of its content in hex. */
  hash: string
  /** Beginning of its content. */
  text: string
  /** Parts of its content from the beginning, the middle and the end. */
  quotes: readonly string[]
}

/** A file or passage that a case names, as it is stored. */
export interface StoredTarget {
  fileId: string
  /** Key of the file at the time of the judgement. */
  fileKey: string
  grade: number
  passage?: PassageAnchor
}

/** The file or passage that a target refers to now. */
export interface ResolvedTarget {
  target: StoredTarget
  state: 'present' | 'moved' | 'gone'
  file: FileRow | undefined
  /** Undefined if it is gone, or if any passage of the file is meant. */
  passage: Pick<AnchoredPassage, 'id' | 'number' | 'position'> | undefined
}

const textLength = 200
const quoteLength = 120
/** Terms of one query. */
const atOnce = 100
/** Passages that are compared with one that is not where it was. */
const maxCompared = 20

/** Remembers a passage by its text. */
export function toAnchor({ id, position, content }: Omit<AnchoredPassage, 'number' | 'file_id'>) {
  const middle = Math.max(0, Math.floor((content.length - quoteLength) / 2))
  const quotes = [0, middle, Math.max(0, content.length - quoteLength)].map((start) =>
    whole(content.slice(start, start + quoteLength)),
  )
  return {
    id,
    position,
    hash: hashOf(content),
    text: beginningOf(content),
    quotes: [...new Set(quotes)].filter((quote) => quote !== ''),
  }
}

/** The first characters of a passage. */
export function beginningOf(content: string): string {
  return whole(content.slice(0, textLength))
}

/** A part of a text without the halves of characters at its ends. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

/**
 * Checks the files and passages that a case names, and returns them as stored targets. A target that the case has
 * already stays as it is.
 * @param field of the body, for errors
 * @throws ApiError `ReferenceNotFound`, or `InvalidPayload` for a file that is named as a whole and by a passage
 */
export async function toTargets(
  db: Db,
  { botId, now }: { botId: string; now: string },
  inputs: readonly TargetInput[],
  { field, known }: { field: string; known: readonly StoredTarget[] },
): Promise<StoredTarget[]> {
  const files = await findFiles(
    db,
    botId,
    inputs.map(({ fileId }) => fileId),
    now,
  )
  const targets: StoredTarget[] = []
  for (const [at, { fileId, passageId, grade = 1 }] of inputs.entries()) {
    const old = known.find((each) => each.fileId === fileId && each.passage?.id === passageId)
    if (old !== undefined) {
      targets.push({ ...old, grade })
      continue
    }
    const file = files.get(fileId)
    if (file === undefined) {
      throw noReference(`body.${field}.${at}.fileId`, 'file', fileId, 'in this bot')
    }
    const target = { fileId, fileKey: file.key, grade }
    if (passageId === undefined) {
      targets.push(target)
      continue
    }
    const place = { botId, fileId, generation: file.passages_generation ?? 0 }
    const [passage] = await listOfFile(db, place, { passageId })
    if (passage === undefined) {
      throw noReference(
        `body.${field}.${at}.passageId`,
        'passage',
        passageId,
        `in the file ${file.key}`,
      )
    }
    targets.push({ ...target, passage: toAnchor(passage) })
  }
  return targets
}

/** @throws ApiError `InvalidPayload` if the targets of a case contradict each other */
export function requireConsistent(targets: readonly StoredTarget[]): void {
  const contradiction = findContradiction(targets)
  if (contradiction === undefined) return
  throw new ApiError('InvalidPayload', `The case ${contradiction}.`, {
    metadata: { in: 'body', field: 'right' },
  })
}

/** The contradiction between targets of a case, as the end of a sentence about the case; undefined without one. */
export function findContradiction(targets: readonly StoredTarget[]): string | undefined {
  const seen = new Set<string>()
  const wholes = new Set(
    targets.filter(({ passage }) => passage === undefined).map(({ fileId }) => fileId),
  )
  for (const { fileId, fileKey, passage } of targets) {
    const name = `${fileId} ${nameOf(passage)}`
    if (seen.has(name)) return `names the file ${fileKey}, or a passage of it, twice`
    seen.add(name)
    if (passage !== undefined && wholes.has(fileId)) {
      return `names the file ${fileKey} as a whole and by a passage: keep one of them`
    }
  }
  return undefined
}

/** Imported passages have no id until a run finds them. */
function nameOf(passage: PassageAnchor | undefined): string {
  if (passage === undefined) return ''
  return passage.id || `${passage.position} ${passage.hash}`
}

/** Finds the files and passages that targets refer to now, in their order. */
export async function resolveTargets(
  db: Db,
  { botId, now }: { botId: string; now: string },
  targets: readonly StoredTarget[],
): Promise<ResolvedTarget[]> {
  const files = await findFiles(
    db,
    botId,
    targets.map(({ fileId }) => fileId),
    now,
  )
  const positions = targets.flatMap(({ fileId, passage }): PassagePosition[] => {
    const generation = files.get(fileId)?.passages_generation
    if (passage === undefined || !generation) return []
    return [{ fileId, generation, position: passage.position }]
  })
  const there = new Map<string, AnchoredPassage>()
  for (let at = 0; at < positions.length; at += atOnce) {
    for (const row of await listAtPositions(db, botId, positions.slice(at, at + atOnce))) {
      there.set(`${row.file_id} ${row.position}`, row)
    }
  }
  const resolved: ResolvedTarget[] = []
  for (const target of targets) {
    const file = files.get(target.fileId)
    const row = there.get(`${target.fileId} ${target.passage?.position ?? ''}`)
    resolved.push(await resolve(db, botId, target, file, row))
  }
  return resolved
}

/** @param row the passage where the judged one was */
async function resolve(
  db: Db,
  botId: string,
  target: StoredTarget,
  file: FileRow | undefined,
  row: AnchoredPassage | undefined,
): Promise<ResolvedTarget> {
  const generation = file?.passages_generation ?? null
  const gone: ResolvedTarget = { target, state: 'gone', file, passage: undefined }
  if (file === undefined || generation === null) return gone
  const anchor = target.passage
  if (anchor === undefined) return { target, state: 'present', file, passage: undefined }
  if (row !== undefined && hashOf(row.content) === anchor.hash) {
    return { target, state: 'present', file, passage: row }
  }
  if (row?.id === anchor.id) return { target, state: 'moved', file, passage: row }
  const place = { botId, fileId: file.id, generation }
  const similar = await listWithText(db, place, anchor.quotes, maxCompared)
  const same = similar.find(({ content }) => hashOf(content) === anchor.hash)
  if (same !== undefined) return { target, state: 'present', file, passage: same }
  const [best] = similar.toSorted(
    (a, b) =>
      quotesIn(b, anchor) - quotesIn(a, anchor) ||
      Math.abs(a.position - anchor.position) - Math.abs(b.position - anchor.position),
  )
  return best === undefined ? gone : { target, state: 'moved', file, passage: best }
}

function quotesIn({ content }: AnchoredPassage, { quotes }: PassageAnchor): number {
  return quotes.filter((quote) => content.includes(quote)).length
}

/** The stored form of a target with the place of its passage now, so that it is found at once the next time. */
export function withPlace({ target, passage }: ResolvedTarget): StoredTarget {
  if (target.passage === undefined || passage === undefined) return target
  const { id, position } = passage
  return { ...target, passage: { ...target.passage, id, position } }
}

/** The existing files of a bot that have not expired, by their ids. */
async function findFiles(
  db: Db,
  botId: string,
  ids: readonly string[],
  now: string,
): Promise<Map<string, FileRow>> {
  const distinct = [...new Set(ids)]
  const files = new Map<string, FileRow>()
  for (let at = 0; at < distinct.length; at += atOnce) {
    for (const file of await listFilesByIds(db, botId, distinct.slice(at, at + atOnce))) {
      if (file.expires_at === null || file.expires_at > now) files.set(file.id, file)
    }
  }
  return files
}
