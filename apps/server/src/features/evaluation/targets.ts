import { ApiError, type Body, type contract } from '@botstead/contract'
import { noReference } from '../../domain/refusals.js'
import type { Db } from '../../platform/db/schema.js'
import { groupBy } from '../../platform/group-by.js'
import { type FileRow, listFilesByIds } from '../files/lookup/index.js'
import {
  type AnchoredPassage,
  listAtPositions,
  listOfFile,
  type PassagePosition,
} from '../search/index.js'
import { findTexts, hashOf, type PassageAnchor, type TextMatch } from './judged-texts.js'

type TargetInput = Body<typeof contract.evaluationCases.create>['right'][number]

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
  const rowOf = ({ fileId, passage }: StoredTarget) =>
    there.get(`${fileId} ${passage?.position ?? ''}`)
  const resolved = targets.map((target) =>
    resolveInPlace(target, files.get(target.fileId), rowOf(target)),
  )
  const moved = await findMoved(
    db,
    botId,
    resolved.filter(({ isLost }) => isLost),
  )
  return resolved.map(({ isLost, ...each }) => {
    const match = isLost ? moved.get(each.target) : undefined
    if (match === undefined) return each
    return { ...each, state: match.isSame ? 'present' : 'moved', passage: match.passage }
  })
}

/** A target by its place alone. A judged passage is lost if another text is there. */
type PlacedTarget = ResolvedTarget & { isLost: boolean }

/** @param row the passage where the judged one was */
function resolveInPlace(
  target: StoredTarget,
  file: FileRow | undefined,
  row: AnchoredPassage | undefined,
): PlacedTarget {
  const gone = { target, state: 'gone', file, passage: undefined, isLost: false } as const
  if (file === undefined || file.passages_generation === null) return gone
  const anchor = target.passage
  if (anchor === undefined) return { ...gone, state: 'present' }
  if (row !== undefined && hashOf(row.content) === anchor.hash) {
    return { ...gone, state: 'present', passage: row }
  }
  if (row?.id === anchor.id) return { ...gone, state: 'moved', passage: row }
  return { ...gone, isLost: true }
}

/** Finds the passages that have the texts of lost ones, in one pass over each file. */
async function findMoved(
  db: Db,
  botId: string,
  lost: readonly PlacedTarget[],
): Promise<Map<StoredTarget, TextMatch>> {
  const found = new Map<StoredTarget, TextMatch>()
  for (const [fileId, ofFile] of groupBy(lost, ({ target }) => target.fileId)) {
    const place = { botId, fileId, generation: ofFile[0]?.file?.passages_generation ?? 0 }
    const anchors = ofFile.flatMap(({ target }) => target.passage ?? [])
    const matches = await findTexts(db, place, anchors)
    for (const { target } of ofFile) {
      const match = target.passage && matches.get(target.passage)
      if (match !== undefined) found.set(target, match)
    }
  }
  return found
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
