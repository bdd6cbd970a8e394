import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { type Report, serveTasks } from '../../platform/workers/worker-task.js'
import { chunkDocument } from './chunk/chunk-document.js'
import { toIndexFields } from './chunk/index-fields.js'
import { ExtractionError } from './extract/extraction-error.js'
import { extract } from './extract/registry.js'
import { toPassages } from './given-passages.js'
import type { IngestedPassage, IngestInput, IngestOutput, IngestProgress } from './ingest-task.js'

/** Share of the work that is done when a document is read; the rest is for cutting and indexing. */
const READ_PERCENT = 60
const CUT_PERCENT = 70

/** Runs in a process of its own: everything that touches the content of a foreign file. */
serveTasks<IngestInput, IngestOutput, IngestProgress>(async (input, report) => {
  try {
    return await readDocument(input, report)
  } catch (error) {
    const known = toExtractionError(error)
    if (known === undefined) throw error
    // A class would not survive the way back to the server.
    return { failure: known.failure, message: known.message }
  }
})

async function readDocument(
  input: IngestInput,
  report: Report<IngestProgress>,
): Promise<IngestOutput> {
  if (input.isPassages) {
    const given = JSON.parse(new TextDecoder().decode(await read(input)))
    return { passages: toPassages(given, input.context) }
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
  const cut = chunkDocument(extraction, chunking)
  const passages: IngestedPassage[] = []
  for (const passage of cut) {
    passages.push({ ...passage, fields: toIndexFields(passage, input.context) })
    const share = passages.length / cut.length
    const percent = Math.floor(CUT_PERCENT + (99 - CUT_PERCENT) * share)
    report({ step: 'chunk', ...counted, passages: passages.length, percent })
  }
  return {
    ...(extraction.title !== undefined && { title: extraction.title }),
    ...(extraction.pages !== undefined && { pages: extraction.pages }),
    passages,
  }
}

async function read(input: IngestInput): Promise<Uint8Array> {
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
  // Not the file's fault: the server's storage has lost or changed it.
  if (sha256 !== input.sha256) throw new Error('The content is not what was uploaded')
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
