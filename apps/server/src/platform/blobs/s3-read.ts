import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { S3ConnectionError } from './s3-responses.js'

/** A content whose reading resumes after a broken connection. */
export interface ResumingReader {
  /** The part that is open already. */
  first: IncomingMessage
  /** First byte of that part and last byte of the content, counted from 0, both included. */
  start: number
  end: number
  /** Opens what is left from a byte on; rejects when the content is another one by now. */
  reopen(start: number, signal: AbortSignal): Promise<IncomingMessage>
  /** Milliseconds of silence after which a connection counts as broken. */
  idleTimeout: number
}

/** Interruptions in a row, without a byte in between, after which the rest is requested again. */
const maxBreaks = 5

/** A silence takes as long as many other interruptions: the second one in a row is the last. */
const breaksOfSilence = 3

/** No bytes were received for long. */
class SilenceError extends S3ConnectionError {}

/** The store sent more than it had announced. */
class LongerContentError extends S3ConnectionError {}

/** A content that resumes at the same byte when the connection to the store breaks in the middle. */
export function readResuming(reader: ResumingReader): Readable {
  const controller = new AbortController()
  const stream = Readable.from(chunksOf(reader, controller.signal), { objectMode: false })
  stream.once('close', () => {
    controller.abort()
    reader.first.destroy()
  })
  return stream
}

async function* chunksOf(reader: ResumingReader, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let at = reader.start
  let breaks = 0
  let response = reader.first
  for (;;) {
    const silence = new Silence(response, reader.idleTimeout)
    try {
      for await (const chunk of response) {
        silence.end()
        at += chunk.length
        // Whoever collects the content has room for what was announced.
        if (at > reader.end + 1)
          throw new LongerContentError('The content is longer than announced.')
        breaks = 0
        yield chunk
        // Only while a chunk is waited for does silence count: the reader may take its time.
        silence.begin()
      }
      if (at > reader.end) return
      throw new S3ConnectionError('The content ended early.')
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof LongerContentError) throw error
      breaks += error instanceof SilenceError ? breaksOfSilence : 1
      if (at > reader.end) return
      if (breaks > maxBreaks) throw brokenAt(at, error)
    } finally {
      silence.end()
      response.destroy()
    }
    response = await reader.reopen(at, signal)
    // The reader left while the connection was made, so nothing else would close it.
    if (signal.aborted) return void response.destroy()
  }
}

function brokenAt(at: number, cause: unknown): S3ConnectionError {
  if (cause instanceof S3ConnectionError) return cause
  return new S3ConnectionError(`The content breaks off at byte ${at} each time.`, { cause })
}

/** Breaks a connection on which nothing comes although something is waited for. */
class Silence {
  readonly #response: IncomingMessage
  readonly #milliseconds: number
  #timer: NodeJS.Timeout | undefined

  constructor(response: IncomingMessage, milliseconds: number) {
    this.#response = response
    this.#milliseconds = milliseconds
    this.begin()
  }

  begin(): void {
    this.#timer = setTimeout(() => {
      this.#response.destroy(
        new SilenceError(`No bytes were received for ${this.#milliseconds} ms.`),
      )
    }, this.#milliseconds)
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
