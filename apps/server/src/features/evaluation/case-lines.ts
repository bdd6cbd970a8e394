import { ApiError } from '@botstead/contract'
import { decodeJson, storableText } from '../../platform/db/columns.js'
import { exceededBound, maxJsonDepth } from '../../platform/json-bounds.js'
import type { CaseRow } from './table.js'
import { type StoredTarget, toAnchor } from './targets.js'

/** A file, or a passage of one, in a line of an export: by the key of the file and by text. */
export interface LineTarget {
  file: string
  grade: number
  passage?: NonNullable<StoredTarget['passage']>
}

/** A case as a line of JSON describes it. */
export interface LineCase {
  /** Number of the line, from 1. */
  line: number
  key: string
  question: string
  right: LineTarget[]
  wrong: LineTarget[]
  note: string
}

const maxLines = 1000
const maxTargets = 20
const maxKey = 200
const maxQuestionBytes = 2048
const maxNote = 2000
const maxGrade = 3
const maxQuotes = 3
const maxQuote = 500

/** A case as a line of JSON, which `botstead eval` reads as a question with its right documents. */
export function toLine({ id, key, question, right_targets, wrong_targets, note }: CaseRow): string {
  const right = decodeJson<StoredTarget[]>(right_targets)
  const wrong = decodeJson<StoredTarget[]>(wrong_targets)
  // Not an object: keys of files may be names of its members, such as `__proto__`.
  const relevant = new Map<string, number>()
  for (const { fileKey, grade } of right) {
    relevant.set(fileKey, Math.max(grade, relevant.get(fileKey) ?? 0))
  }
  const passages = right.filter(({ passage }) => passage !== undefined).map(toLineTarget)
  const line = {
    _id: key ?? id,
    text: question,
    relevant: Object.fromEntries(relevant),
    ...(passages.length > 0 && { passages }),
    ...(wrong.length > 0 && { wrong: wrong.map(toLineTarget) }),
    ...(note !== '' && { note }),
  }
  return `${JSON.stringify(line)}\n`
}

function toLineTarget({ fileKey, grade, passage }: StoredTarget) {
  if (passage === undefined) return { file: fileKey, grade }
  const { id, ...anchor } = passage
  return { file: fileKey, grade, ...anchor }
}

/**
 * Reads lines of JSON.
 * @throws ApiError `InvalidPayload` that names the line and the rule
 */
export function readLines(text: string): LineCase[] {
  const cases: LineCase[] = []
  const keys = new Set<string>()
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    if (cases.length >= maxLines) {
      throw invalid(`must have at most ${maxLines} lines: import the others with another call`)
    }
    const found = readLine(line, at + 1)
    if (keys.has(found.key)) throw invalidLine(at + 1, `the _id ${found.key} occurs twice`)
    keys.add(found.key)
    cases.push(found)
  }
  return cases
}

function readLine(text: string, line: number): LineCase {
  const record = parse(text, line)
  const key = textIn(record, '_id') || textIn(record, 'id')
  if (key === '' || key.length > maxKey) {
    throw invalidLine(line, `"_id" must be a text of 1 to ${maxKey} characters`)
  }
  const question = textIn(record, 'text')
  if (question.trim() === '' || Buffer.byteLength(question) > maxQuestionBytes) {
    throw invalidLine(line, `"text" must be a question of 1 to ${maxQuestionBytes} bytes of UTF-8`)
  }
  const note = textIn(record, 'note')
  if (note.length > maxNote) throw invalidLine(line, `"note" has more than ${maxNote} characters`)
  const passages = readTargets(record, 'passages', line)
  const byPassage = new Set(passages.map(({ file }) => file))
  const files = readRelevant(record, line).filter(({ file }) => !byPassage.has(file))
  const right = [...passages, ...files]
  const wrong = readTargets(record, 'wrong', line)
  if (Math.max(right.length, wrong.length) > maxTargets) {
    throw invalidLine(line, `a case names at most ${maxTargets} right and ${maxTargets} wrong ones`)
  }
  return { line, key, question, right, wrong, note }
}

/**
 * A line may have members that are not read, but not more than take the time of parsing: a line of an import may have
 * millions of characters.
 */
const lineBounds = { depth: maxJsonDepth, objects: 100_000 }

function parse(text: string, line: number): object {
  const exceeded = exceededBound(text, lineBounds)
  if (exceeded === 'depth') {
    throw invalidLine(line, `it nests deeper than ${maxJsonDepth} levels`)
  }
  if (exceeded !== undefined) {
    throw invalidLine(line, `it has more than ${lineBounds.objects} objects, lists and texts`)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Invalid JSON is reported below, like JSON that is not an object.
  }
  throw invalidLine(line, 'it must be a JSON object')
}

/** The member `relevant`: grades by the keys of files. */
function readRelevant(record: object, line: number): LineTarget[] {
  const relevant: unknown = Reflect.get(record, 'relevant') ?? {}
  if (typeof relevant !== 'object' || relevant === null || Array.isArray(relevant)) {
    throw invalidLine(line, '"relevant" must be an object: grades by the keys of files')
  }
  // Some collections also list irrelevant documents.
  return Object.entries(relevant).flatMap(([file, grade]) =>
    grade === 0 ? [] : [{ file: storableText(file), grade: toGrade(grade, line) }],
  )
}

function readTargets(record: object, member: 'passages' | 'wrong', line: number): LineTarget[] {
  const list: unknown = Reflect.get(record, member) ?? []
  if (!Array.isArray(list)) throw invalidLine(line, `"${member}" must be a list`)
  return list.map((item: unknown): LineTarget => {
    const each = typeof item === 'object' && item !== null ? item : {}
    const file = textIn(each, 'file')
    if (file === '') throw invalidLine(line, `each of "${member}" must have the key of a "file"`)
    const passage = readAnchor(each)
    if (passage === undefined && member === 'passages') {
      throw invalidLine(line, 'each of "passages" must have the "text" of the passage')
    }
    const grade = toGrade(Reflect.get(each, 'grade') ?? 1, line)
    return { file, grade, ...(passage && { passage }) }
  })
}

/** A passage by its text; members that only exports have are optional. */
function readAnchor(target: object): LineTarget['passage'] | undefined {
  const text = textIn(target, 'text')
  if (text === '') return undefined
  const position = Number(Reflect.get(target, 'position') ?? 0)
  const anchor = toAnchor({ id: '', position: 0, content: text })
  const given: unknown = Reflect.get(target, 'quotes')
  const quotes = (Array.isArray(given) ? given : []).filter(
    (quote: unknown): quote is string =>
      typeof quote === 'string' && quote !== '' && quote.length <= maxQuote,
  )
  return {
    ...anchor,
    position: Number.isSafeInteger(position) && position >= 0 ? position : 0,
    hash: textIn(target, 'hash').slice(0, 64) || anchor.hash,
    quotes: quotes.length > 0 ? quotes.slice(0, maxQuotes) : anchor.quotes,
  }
}

function toGrade(grade: unknown, line: number): number {
  if (typeof grade === 'number' && Number.isFinite(grade) && grade > 0) {
    return Math.min(maxGrade, Math.max(1, Math.round(grade)))
  }
  throw invalidLine(line, 'a grade must be a number above 0')
}

function textIn(record: object, member: string): string {
  const value: unknown = Reflect.get(record, member)
  return typeof value === 'string' ? storableText(value) : ''
}

export function invalidLine(line: number, reason: string): ApiError {
  return invalid(`line ${line}: ${reason}`)
}

function invalid(reason: string): ApiError {
  return new ApiError('InvalidPayload', `body.lines: ${reason}.`, {
    metadata: { in: 'body', field: 'lines' },
  })
}
