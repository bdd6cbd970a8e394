import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import type { Client } from '@botstead/contract'
import { packageFile } from '../../platform/package-files.js'
import { cutText } from '../text.js'
import type { Printer, Quote } from './print.js'
import { type CallLog, DemoError, type Step } from './step.js'

const key = 'botstead.md'
/** The document of the demonstration, which is part of this package. */
const documentPath = packageFile(`demo/${key}`)
const question = 'Can a message get lost when the power fails?'
/** Maximum wait for a document to become searchable, in milliseconds. */
const indexingTimeoutMs = 30_000

/** Announces the document and sends its content to the signed address in the response. */
export async function uploadDocument(
  client: Client,
  calls: Pick<CallLog, 'fetch'>,
  step: Step,
): Promise<void> {
  const content = await readFile(documentPath)
  await step({
    what: 'Upload a document, to be found by search',
    sent: { key, size: `${content.length} bytes`, index: 'true' },
    call: async () => {
      const { file } = await client.upsertFile({ key, index: true, size: content.length })
      const response = await calls.fetch(file.uploadUrl, { method: 'PUT', body: content })
      if (!response.ok) throw new Error(`The content was refused with status ${response.status}.`)
      return { file }
    },
    show: ({ file }, print) => print.received({ id: file.id, type: file.contentType }),
  })
}

/** Waits until the document is searchable: one call, whose response comes then. */
export async function waitUntilSearchable(client: Client, print: Printer): Promise<void> {
  const start = performance.now()
  const waitFor = 'indexing_completed'
  const { file } = await client.getFile({ id: key, waitFor, timeout: indexingTimeoutMs })
  if (file.status === waitFor) {
    print.note(`Searchable ${(performance.now() - start).toFixed(0)} ms later.`)
    return
  }
  if (file.failedStatusReason !== undefined) {
    throw new DemoError(
      `The status of the document is ${file.status}: ${file.failedStatusReason}`,
      'The reason says what is wrong with the document. If it is unchanged, please open an issue.',
    )
  }
  throw new DemoError(
    `The status of the document is still ${file.status} after ${indexingTimeoutMs / 1000} s.`,
    'The machine may be very busy: run the demonstration again when it is not.',
  )
}

/** Asks a question in plain words. */
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

/** The members of a passage that are shown. */
interface FoundPassage {
  content: string
  score: number
  file: { key: string }
  context?: readonly { type: string; text: string }[]
}

const maxQuoteLength = 280
const heading = /^#{1,6}\s+(.*)$/

/** A passage as text for people: its headings, then the beginning of its content. */
function toQuote({ content, score, file, context = [] }: FoundPassage): Quote {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const above = context.filter(({ type }) => type === 'breadcrumb').map(({ text }) => text)
  const own = lines.flatMap((line) => heading.exec(line)?.[1] ?? [])
  const text = lines.filter((line) => !heading.test(line)).join(' ')
  return {
    score,
    path: [file.key, ...above, ...own.filter((each) => !above.includes(each)).slice(0, 1)],
    text: cutText(text.replaceAll(/\s+/g, ' ').trim(), maxQuoteLength),
  }
}
