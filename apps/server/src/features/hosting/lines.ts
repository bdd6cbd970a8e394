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
 * @returns a promise that resolves when the stream was read to its end, or closed
 */
export function readLines(stream: Readable, reading: LineReading): Promise<void> {
  const { share, maxBytes, onLine } = reading
  let kept: Buffer[] = []
  let size = 0
  let cut = 0
  let isOver = false
  /** Whether the stream has ended, and whether a part of it still waits for the budget. */
  let hasEnded = false
  let isWaiting = false
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
    isWaiting = true
    share.wait(
      guarded(onFault, () => {
        if (isOver) return
        isWaiting = false
        stream.resume()
        if (rest.length > 0) read(rest)
        finish()
      }),
    )
  }

  /** A paused stream also emits `end`, if it has nothing more to read. */
  function finish(): void {
    if (!hasEnded || isWaiting || isOver) return
    isOver = true
    // The last line may have no end.
    endLine()
    resolve()
  }

  return new Promise((given) => {
    resolve = given
    stream.on(
      'data',
      guarded(onFault, (piece: Buffer) => {
        share.take({ bytes: piece.length })
        read(piece)
      }),
    )
    stream.once(
      'end',
      guarded(onFault, () => {
        hasEnded = true
        finish()
      }),
    )
    stream.on('error', () => {})
    stream.once('close', () => {
      if (!hasEnded || isOver) resolve()
    })
  })
}
