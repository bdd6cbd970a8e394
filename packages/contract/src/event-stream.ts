/** One event of a stream of server-sent events. */
export interface StreamEvent {
  id: string | undefined
  data: string
}

/** Characters that one event may have, many times those of the longest message. */
const maxEventLength = 16 * 1024 * 1024

/**
 * Reads a stream of server-sent events. Ends with the stream, and when no data arrived for a while:
 * a dead connection is otherwise indistinguishable from an idle one.
 *
 * @throws TypeError when an event has no end, as a broken connection does
 * @param silence milliseconds without data after which the stream counts as dead: twice the interval of its pings by default
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array>,
  silence = 60_000,
): AsyncGenerator<StreamEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const chunk = await within(reader.read(), silence)
      if (chunk === undefined || chunk.done) return
      text += decoder.decode(chunk.value, { stream: true })
      const frames = text.split(/\r?\n\r?\n/)
      text = frames.pop() ?? ''
      if (text.length > maxEventLength) throw new TypeError('An event of the stream is too long.')
      for (const frame of frames) yield parse(frame)
    }
  } finally {
    // Also closes the connection when the caller stops reading.
    await reader.cancel().catch(() => {})
  }
}

function parse(frame: string): StreamEvent {
  let id: string | undefined
  const data: string[] = []
  for (const line of frame.split(/\r?\n/)) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
    if (field === 'id') id = value
    if (field === 'data') data.push(value)
  }
  return { id, data: data.join('\n') }
}

/** The result of the promise, or undefined if it takes too long. */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
