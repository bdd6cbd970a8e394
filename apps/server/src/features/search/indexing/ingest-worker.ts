import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { ExtractionError, type Passage, readDocument, toRefusal } from '@botstead/documents'
import { addNameTitle } from '@botstead/documents/text'
import { type Give, type Report, serveTasks } from '../../../platform/workers/worker-task.js'
import { toPassages } from './given-passages.js'
import { lostContent } from './ingest-content.js'
import type {
  DocumentInput,
  IngestInput,
  IngestOutput,
  IngestPiece,
  IngestProgress,
  TextsInput,
} from './ingest-task.js'
import { createWordLister } from './passage-words.js'

/** Share of the work that is done when a document is read; the rest is for cutting and indexing. */
const READ_PERCENT = 60
const CUT_PERCENT = 70

/** Passages that go to the server at a time: few enough that taking them in keeps nobody waiting. */
const PASSAGES_IN_PIECE = 50

/** Runs in a process of its own: everything that touches the content of a foreign file. */
serveTasks<IngestInput, IngestOutput, IngestProgress, IngestPiece>(async (input, report, give) => {
  try {
    if ('texts' in input) return listWords(input, give)
    return await ingestDocument(input, report, give)
  } catch (error) {
    const refusal = toRefusal(error)
    if (refusal === undefined) throw error
    // An instance of a class would not survive the way back to the server.
    return { failure: refusal.failure, message: refusal.message }
  }
})

function listWords({ texts, key, context }: TextsInput, give: Give<IngestPiece>): IngestOutput {
  give({ words: texts.map(createWordLister(key, context)) })
  return {}
}

async function ingestDocument(
  input: DocumentInput,
  report: Report<IngestProgress>,
  give: Give<IngestPiece>,
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
  let pages: number | undefined
  const progress = () => (pages === undefined ? {} : { pages })
  const source = {
    bytes: await read(input),
    contentType: input.contentType,
    key: input.key,
    maximumLength: input.chunking.maximumLength * input.chunking.maximumPassages,
    maximumPages: input.maximumPages,
    maximumUnpackedBytes: input.maximumUnpackedBytes,
    onPage(done: number, total: number) {
      pages = done
      report({ step: 'extract', pages, percent: Math.floor((READ_PERCENT * done) / total) })
    },
  }
  const { passages, ...document } = await readDocument(source, input.chunking, () => {
    report({ step: 'chunk', ...progress(), percent: READ_PERCENT }, { milestone: true })
  })
  let given = 0
  for (const some of inPieces(passages)) {
    give({ passages: some.map(withWords) })
    given += some.length
    const percent = Math.floor(CUT_PERCENT + ((99 - CUT_PERCENT) * given) / passages.length)
    report({ step: 'chunk', ...progress(), passages: given, percent })
  }
  return document
}

function* inPieces(passages: readonly Passage[]): Generator<Passage[]> {
  for (let start = 0; start < passages.length; start += PASSAGES_IN_PIECE) {
    yield passages.slice(start, start + PASSAGES_IN_PIECE)
  }
}

async function read(input: DocumentInput): Promise<Uint8Array> {
  const { content, maximumBytes } = input
  const size = 'bytes' in content ? content.bytes.byteLength : (await stat(content.path)).size
  if (size > maximumBytes) {
    throw new ExtractionError(
      'too_large',
      `The file has ${size} bytes; at most ${maximumBytes} can be indexed. Split it into several files.`,
    )
  }
  const bytes = 'bytes' in content ? content.bytes : await readFile(content.path)
  if (input.sha256 === undefined) return bytes
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== input.sha256) throw lostContent('The stored content is not what was uploaded')
  return bytes
}
