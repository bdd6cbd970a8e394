import { readFile, stat } from 'node:fs/promises'
import { serveTasks } from '../../platform/workers/worker-task.js'
import { chunkDocument } from './chunk/chunk-document.js'
import { toIndexFields } from './chunk/index-fields.js'
import { ExtractionError } from './extract/extraction-error.js'
import { extract } from './extract/registry.js'
import type { Content, IngestInput, IngestOutput } from './ingest-task.js'

/** Runs in a process of its own: everything that touches the content of a foreign file. */
serveTasks<IngestInput, IngestOutput>(async (input) => {
  try {
    const bytes = await read(input.content, input.maximumBytes)
    const { contentType, key, chunking } = input
    const maximumLength = chunking.maximumLength * chunking.maximumPassages
    const extraction = await extract({ bytes, contentType, key, maximumLength })
    const passages = chunkDocument(extraction, chunking).map((passage) => ({
      ...passage,
      fields: toIndexFields(passage, input.context),
    }))
    return extraction.title === undefined ? { passages } : { title: extraction.title, passages }
  } catch (error) {
    const known = toExtractionError(error)
    if (known === undefined) throw error
    // A class would not survive the way back to the server.
    return { failure: known.failure, message: known.message }
  }
})

async function read(content: Content, maximumBytes: number): Promise<Uint8Array> {
  const size = 'bytes' in content ? content.bytes.byteLength : (await stat(content.path)).size
  if (size > maximumBytes) {
    throw new ExtractionError(
      'too_large',
      `The file has ${size} bytes; at most ${maximumBytes} can be indexed. Split it into several files.`,
    )
  }
  return 'bytes' in content ? content.bytes : readFile(content.path)
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
