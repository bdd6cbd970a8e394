import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client } from '@botpress/client'
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

/** Asks for the document until its passages can be found. */
export async function waitUntilSearchable(client: Client, print: Printer): Promise<void> {
  const start = performance.now()
  for (;;) {
    const { file } = await client.getFile({ id: key })
    const waited = performance.now() - start
    if (file.status === 'indexing_completed') {
      print.note(`Searchable ${waited.toFixed(0)} ms later.`)
      return
    }
    if (file.status.endsWith('_failed')) {
      throw new DemoError(
        `The status of the document is ${file.status}: ${file.failedStatusReason}`,
        'The reason says what is wrong with the document. If it is an unchanged part of this checkout, please open an issue.',
      )
    }
    if (waited > indexingPatience) {
      throw new DemoError(
        `The status of the document is still ${file.status} after ${indexingPatience / 1000} s.`,
        'The machine may be very busy: run the demonstration again when it is not.',
      )
    }
    await sleep(20)
  }
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
