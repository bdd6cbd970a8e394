import type { Readable } from 'node:stream'

/** The bytes of a request, one chunk after another, that can be stopped between two of them. */
export interface ByteSource {
  /** The next bytes; undefined at the end, after a failure, once stopped, or when `isOver` says so. */
  next(isOver: () => boolean): Promise<Uint8Array | undefined>
  /** Has a `next` that waits ask its `isOver` again. */
  wake(): void
  /** Nothing more is read than what has come by now, which is handed on. */
  stop(): void
  /** Reads nothing more and leaves the stream to others. */
  release(): void
  /** Why the stream broke, if it did. */
  readonly failure: unknown
}

/**
 * Reads a stream without destroying it, whatever happens: its connection is still needed for the
 * answer. Waiting costs one promise per chunk and leaves none behind.
 */
export function openByteSource(stream: Readable): ByteSource {
  let wake = (): void => undefined
  let failure: unknown = stream.errored ?? undefined
  let isComplete = stream.readableEnded
  let isStopped = false
  /** What had come and was not handed on when the source was stopped. */
  let last: Uint8Array | null = null
  const onReadable = (): void => wake()
  const onEnd = (): void => {
    isComplete = true
    wake()
  }
  const onClose = (): void => {
    if (!isComplete) failure ??= new Error('The connection was closed.')
    wake()
  }
  const onError = (error: unknown): void => {
    failure = error
    wake()
  }
  stream.on('readable', onReadable).on('end', onEnd).on('close', onClose).on('error', onError)

  return {
    async next(isOver) {
      for (;;) {
        if (isOver()) return undefined
        if (isStopped) {
          const rest = last ?? undefined
          last = null
          return rest
        }
        // What came before a failure is as good as the rest.
        const chunk: Uint8Array | null = stream.read()
        if (chunk !== null) return chunk
        if (isComplete || failure !== undefined) return undefined
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    wake: () => wake(),
    stop: () => {
      if (isStopped) return
      isStopped = true
      last = stream.read()
      wake()
    },
    // The listener for errors stays: whatever breaks from now on is nobody's failure.
    release: () => {
      isStopped = true
      last = null
      wake()
      stream.off('readable', onReadable).off('end', onEnd).off('close', onClose)
    },
    get failure() {
      return failure
    },
  }
}
