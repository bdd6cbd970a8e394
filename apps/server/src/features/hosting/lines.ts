import type { Readable } from 'node:stream'
import { guarded } from '../../platform/guarded.js'
import type { OutputShare } from './budget.js'

const newline = 10

export interface LineReading {
  share: OutputShare
  /** Maximum bytes of a line. */
  maxBytes: number
  /** Receives a line, with how many bytes of it were not kept. */
  onLine: (line: string, cut: number) => void
  /** Receives the error that a listener threw. */
  onFault: (error: unknown) => void
}

/**
 * Reads the lines of a stream within a budget. Output beyond the budget stays in the pipe, and the program waits. Bytes
 * beyond the limit of a line are not kept.
 * @returns a promise that resolves when the stream was read to its end, or closed and what came before was read. Never
 * rejects, and does not resolve if the share is closed meanwhile
 */
export function readLines(stream: Readable, reading: LineReading): Promise<void> {
  const { share, maxBytes, onLine } = reading
  let kept: Buffer[] = []
  let size = 0
  let cut = 0
  let isOver = false
  /** Whether the stream gives nothing more, and whether it was read to its end by then. */
  let isClosed = false
  let hasEnded = false
  /** The part of the stream that waits for the budget. */
  let waiting: Buffer | undefined
  let resolve = () => {}

  const onFault = (error: unknown) => {
    isOver = true
    stream.destroy()
    reading.onFault(error)
  }

  function keep(piece: Buffer): void {
    const room = Math.max(0, maxBytes - size)
    const part = piece.subarray(0, room)
    // A copy, because a short line would keep the whole piece that it came in.
    if (part.length > 0) kept.push(Buffer.from(part))
    size += part.length
    cut += piece.length - part.length
  }

  function endLine(): void {
    if (size === 0 && cut === 0) return
    const [first = Buffer.alloc(0)] = kept
    const line = (kept.length > 1 ? Buffer.concat(kept) : first).toString('utf8')
    const more = cut
    kept = []
    size = 0
    cut = 0
    onLine(line, more)
  }

  /** Reads lines until the budget is used up; then the rest of the piece waits, and the stream with it. */
  function read(piece: Buffer): void {
    let rest = piece
    while (rest.length > 0 && !isOver) {
      const end = rest.indexOf(newline)
      keep(end === -1 ? rest : rest.subarray(0, end))
      rest = end === -1 ? rest.subarray(rest.length) : rest.subarray(end + 1)
      if (end === -1) break
      endLine()
      if (!share.take({ lines: 1 }) && rest.length > 0) break
    }
    if (!share.take({})) later(rest)
  }

  function later(rest: Buffer): void {
    stream.pause()
    waiting = rest
    share.wait(
      guarded(onFault, () => {
        const part = waiting
        if (isOver || part === undefined) return
        waiting = undefined
        stream.resume()
        if (part.length > 0) read(part)
        finish()
      }),
    )
  }

  /** A paused stream also emits `end` and `close`, if it has nothing more to read. */
  function finish(): void {
    if (!isClosed || waiting !== undefined || isOver) return
    isOver = true
    // The last line may have no end.
    if (hasEnded) endLine()
    resolve()
  }

  return new Promise((given) => {
    resolve = given
    stream.on(
      'data',
      guarded(onFault, (piece: Buffer) => {
        share.take({ bytes: piece.length })
        if (waiting === undefined) read(piece)
        else {
          // Node resumes the output of a process that ended, although it was paused.
          waiting = Buffer.concat([waiting, piece])
          stream.pause()
        }
      }),
    )
    stream.once(
      'end',
      guarded(onFault, () => {
        isClosed = true
        hasEnded = true
        finish()
      }),
    )
    stream.on('error', () => {})
    stream.once('close', () => {
      isClosed = true
      finish()
      if (isOver) resolve()
    })
  })
}
