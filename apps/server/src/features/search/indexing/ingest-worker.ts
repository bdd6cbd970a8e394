import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { chunkDocument, ExtractionError, extract, type Passage } from '@botstead/documents'
import { placeUnderName } from '@botstead/documents/text'
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
    return await readDocument(input, report, give)
  } catch (error) {
    const known = toExtractionError(error)
    if (known === undefined) throw error
    // A class would not survive the way back to the server.
    return { failure: known.failure, message: known.message }
  }
})

function listWords({ texts, key, context }: TextsInput, give: Give<IngestPiece>): IngestOutput {
  give({ words: texts.map(createWordLister(key, context)) })
  return {}
}

async function readDocument(
  input: DocumentInput,
  report: Report<IngestProgress>,
  give: Give<IngestPiece>,
): Promise<IngestOutput> {
  const wordsOf = createWordLister(input.key, input.context)
  const withWords = (passage: Passage) => ({ ...passage, ...wordsOf(passage) })
  if (input.isPassages) {
    const given = placeUnderName(
      toPassages(JSON.parse(new TextDecoder().decode(await read(input)))),
      input.key,
    )
    for (const some of inPieces(given)) give({ passages: some.map(withWords) })
    return {}
  }
  const { contentType, key, chunking } = input
  let pages: number | undefined
  const extraction = await extract({
    bytes: await read(input),
    contentType,
    key,
    maximumLength: chunking.maximumLength * chunking.maximumPassages,
    maximumPages: input.maximumPages,
    maximumUnpackedBytes: input.maximumUnpackedBytes,
    onPage(done, total) {
      pages = done
      report({ step: 'extract', pages, percent: Math.floor((READ_PERCENT * done) / total) })
    },
  })
  const counted = pages === undefined ? {} : { pages }
  report({ step: 'chunk', ...counted, percent: READ_PERCENT }, { milestone: true })
  const cut = placeUnderName(chunkDocument(extraction, chunking), key)
  let passages = 0
  for (const some of inPieces(cut)) {
    give({ passages: some.map(withWords) })
    passages += some.length
    const percent = Math.floor(CUT_PERCENT + ((99 - CUT_PERCENT) * passages) / cut.length)
    report({ step: 'chunk', ...counted, passages, percent })
  }
  return {
    ...(extraction.title !== undefined && { title: extraction.title }),
    ...(extraction.pages !== undefined && { pages: extraction.pages }),
  }
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

function toExtractionError(error: unknown): ExtractionError | undefined {
  if (error instanceof ExtractionError) return error
  // The parsers are bounded before they recurse; should one find another way down, it ends here.
  if (!(error instanceof RangeError) || !/call stack/i.test(error.message)) return undefined
  return new ExtractionError(
    'too_deep',
    'The document nests its parts too deeply. Flatten it and upload it again.',
    { cause: error },
  )
}
