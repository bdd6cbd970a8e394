import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import type { Client } from '@botpress/client'
import { createClient } from '@botstead/contract'
import { DemoError } from './explain.js'
import type { Printer } from './print.js'
import { toQuote } from './quote.js'
import type { Step } from './step.js'

const key = 'ARCHITECTURE.md'
/** The document of the demonstration. */
export const documentPath = fileURLToPath(
  new URL('../../../../../ARCHITECTURE.md', import.meta.url),
)
const question = 'Can a message get lost when the power fails?'
/** Longest wait for a document to become searchable, in milliseconds. */
const indexingPatience = 30_000

/** Announces the document and sends its content to the signed address of the answer. */
export async function uploadDocument(client: Client, step: Step): Promise<void> {
  const content = await readFile(documentPath)
  await step({
    what: 'Upload a document, to be found by search',
    sent: { key, size: `${content.length} bytes`, index: 'true' },
    call: () => client.uploadFile({ key, index: true, content }),
    show: ({ file }, print) => print.received({ id: file.id, type: file.contentType }),
  })
}

/**
 * Waits until the passages of the document can be found. The client of bots asks again and again, because
 * it has no other way; the server can also answer one question once it is so far.
 */
export async function waitUntilSearchable(
  place: { address: string; token: string; botId: string },
  print: Printer,
): Promise<void> {
  const start = performance.now()
  const client = createClient({ ...place, baseUrl: place.address })
  const waitFor = 'indexing_completed'
  const { file } = await client.getFile({ id: key, waitFor, timeout: indexingPatience })
  if (file.status === waitFor) {
    print.note(`Searchable ${(performance.now() - start).toFixed(0)} ms later.`)
    return
  }
  if (file.failedStatusReason !== undefined) {
    throw new DemoError(
      `The status of the document is ${file.status}: ${file.failedStatusReason}`,
      'The reason says what is wrong with the document. If it is an unchanged part of this checkout, please open an issue.',
    )
  }
  throw new DemoError(
    `The status of the document is still ${file.status} after ${indexingPatience / 1000} s.`,
    'The machine may be very busy: run the demonstration again when it is not.',
  )
}

/** Asks the document a question in plain words. */
export async function askDocument(client: Client, step: Step): Promise<void> {
  await step({
    what: 'Ask the document a question',
    sent: { query: question },
    call: () =>
      client.searchFiles({ query: question, limit: 2, contextDepth: 0, withContext: true }),
    show: ({ passages }, print) => {
      if (passages.length === 0) {
        throw new DemoError(
          'The search found nothing, although the document has the answer.',
          'This is a fault of the server: please open an issue with this output.',
        )
      }
      print.quotes(passages.map(toQuote))
    },
  })
}
