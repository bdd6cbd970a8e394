import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import {
  ExtractionError,
  type Passage,
  type PassageKind,
  readDocument,
  toRefusal,
} from '@botstead/documents'
import {
  addNameTitle,
  type ContextOptions,
  toIndexFields,
  toNewWords,
} from '@botstead/documents/text'
import {
  type BoundTime,
  type Give,
  type Report,
  serveTasks,
} from '../../../platform/workers/worker-task.js'
import {
  type DocumentInput,
  type IngestInput,
  type IngestOutput,
  type IngestPiece,
  type IngestProgress,
  lostContent,
  type PassageText,
  type PassageWords,
  type TextsInput,
} from './ingest-task.js'

/** Percent of the work that is done when a document is read. */
const readPercent = 60
/** Percent of the work that is done when it is cut; listing the words of passages is the rest. */
const cutPercent = 70

/** Passages per batch: few enough that receiving them does not block the server. */
const passagesInPiece = 50

/** Runs in a process of its own: all code that parses the content of untrusted files. */
serveTasks<IngestInput, IngestOutput, IngestProgress, IngestPiece>(
  async (input, report, give, boundTime) => {
    try {
      if ('texts' in input) return listWords(input, give)
      return await ingestDocument(input, report, give, boundTime)
    } catch (error) {
      const refusal = toRefusal(error)
      if (refusal === undefined) throw error
      // A class instance would not survive the transfer to the server.
      const { failure, message, reading } = refusal
      return { failure, message, reading }
    }
  },
)

function listWords({ texts, key, context }: TextsInput, give: Give<IngestPiece>): IngestOutput {
  give({ words: texts.map(createWordLister(key, context)) })
  return {}
}

/**
 * Returns a function that lists the words of passages, to be called with those of a file in order.
 *
 * @param key of the file
 */
function createWordLister(
  key: string,
  options: ContextOptions,
): (passage: PassageText) => PassageWords {
  const known = new Set<string>()
  return (passage) => {
    const fields = toIndexFields(passage, key, options)
    return { fields, words: toNewWords(Object.values(fields).join(' '), known) }
  }
}

async function ingestDocument(
  input: DocumentInput,
  report: Report<IngestProgress>,
  give: Give<IngestPiece>,
  boundTime: BoundTime,
): Promise<IngestOutput> {
  const wordsOf = createWordLister(input.key, input.context)
  const withWords = (passage: Passage) => ({ ...passage, ...wordsOf(passage) })
  if (input.isPassages) {
    const given = addNameTitle(
      toPassages(JSON.parse(new TextDecoder().decode(await read(input)))),
      input.key,
    )
    for (const some of inPieces(given)) give({ passages: some.map(withWords) })
    return {}
  }
  const bytes = await read(input)
  const maxTimes = maxTimesOf(bytes.length, input.timeLimitMs)
  boundTime('task', maxTimes.file)
  let pages: number | undefined
  const progress = () => (pages === undefined ? {} : { pages })
  const source = {
    bytes,
    contentType: input.contentType,
    key: input.key,
    maxLength: input.chunking.maxLength * input.chunking.maxPassages,
    maxPages: input.maxPages,
    maxUnpackedBytes: input.maxUnpackedBytes,
    allowPartial: input.allowPartial,
    onPage(done: number, total: number) {
      pages = done
      report({ step: 'extract', pages, percent: Math.floor((readPercent * done) / total) })
    },
    onStep(length: 'short' | 'any') {
      boundTime('part', length === 'short' ? maxTimes.step : undefined)
    },
  }
  const { passages, omissions, parts, ...document } = await readDocument(
    source,
    input.chunking,
    () => {
      report({ step: 'chunk', ...progress(), percent: readPercent }, { milestone: true })
    },
  )
  let given = 0
  for (const some of inPieces(passages)) {
    give({ passages: some.map(withWords) })
    given += some.length
    const percent = Math.floor(cutPercent + ((99 - cutPercent) * given) / passages.length)
    report({ step: 'chunk', ...progress(), passages: given, percent })
  }
  return { ...document, reading: { omissions, ...(parts && { parts }) } }
}

/** Processor time in milliseconds that suffices on slow machines, whatever the time limit is. */
const minFileTime = 10_000
const minStepTime = 5000

/**
 * The processor time that a file, and a short step such as a page of a PDF, may take, in milliseconds. Honest files take
 * time in proportion to their size: a small one that takes long was made to.
 */
function maxTimesOf(size: number, timeLimitMs: number): { file: number; step: number } {
  const megabytes = size / 1_000_000
  return {
    file: Math.max(minFileTime, timeLimitMs * Math.min(1, 1 / 4 + megabytes / 8)),
    step: Math.max(minStepTime, timeLimitMs * Math.min(1, 1 / 24 + megabytes / 120)),
  }
}

function* inPieces(passages: readonly Passage[]): Generator<Passage[]> {
  for (let start = 0; start < passages.length; start += passagesInPiece) {
    yield passages.slice(start, start + passagesInPiece)
  }
}

async function read(input: DocumentInput): Promise<Uint8Array> {
  const { content, maxBytes } = input
  const size = 'bytes' in content ? content.bytes.byteLength : (await stat(content.path)).size
  if (size > maxBytes) {
    throw new ExtractionError(
      'too_large',
      `The file has ${size.toLocaleString('en')} bytes; at most ${maxBytes.toLocaleString('en')} can be indexed. ` +
        'Split it into several files, or raise BOTSTEAD_MAX_INDEXED_FILE_BYTES.',
    )
  }
  const bytes = 'bytes' in content ? content.bytes : await readFile(content.path)
  if (input.sha256 === undefined) return bytes
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== input.sha256) throw lostContent('The stored content is not what was uploaded')
  return bytes
}

/** A passage as a caller gives it. */
export interface GivenPassage {
  /** Markdown. */
  content: string
  type?: PassageKind
  pageNumber?: number
}

/** A heading above passages; a title has the depth 1. */
interface Heading {
  depth: number
  text: string
}

const headingLine = /^(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/
/** Characters of a heading that are repeated above every passage below it. */
const maxHeadingLength = 200

/** Converts passages from a caller to the stored form; headings are parsed from them. */
export function toPassages(given: readonly GivenPassage[]): Passage[] {
  let path: Heading[] = []
  let start = 0
  return given.map(({ content, type, pageNumber }, position) => {
    const own = ownHeadings(content, type)
    const depth = own[0]?.depth ?? Number.POSITIVE_INFINITY
    const above = path.filter((heading) => heading.depth < depth)
    path = [...above, ...own]
    const passage = {
      content,
      type: 'chunk' as const,
      subtype: type ?? subtypeOf(own),
      ...(pageNumber !== undefined && { pageNumber }),
      position,
      headings: above.map(({ text }) => text),
      ownHeadings: own.map(({ text }) => text),
      start,
      end: start + content.length,
    }
    // The same distance as between the blocks of a document.
    start = passage.end + 2
    return passage
  })
}

/** The headings at the beginning of a passage; a passage whose type is a heading counts as one without the mark. */
function ownHeadings(content: string, type: PassageKind | undefined): Heading[] {
  const headings: Heading[] = []
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  for (const line of lines) {
    const [, marks = '', text = ''] = headingLine.exec(line) ?? []
    if (text === '') break
    headings.push({ depth: marks.length, text: cut(text) })
  }
  if (headings.length > 0 || (type !== 'title' && type !== 'subtitle')) return headings
  return [{ depth: type === 'title' ? 1 : 2, text: cut((lines[0] ?? '').trim()) }]
}

function subtypeOf([first]: readonly Heading[]): PassageKind {
  if (first === undefined) return 'paragraph'
  return first.depth === 1 ? 'title' : 'subtitle'
}

function cut(text: string): string {
  return [...text].slice(0, maxHeadingLength).join('')
}
