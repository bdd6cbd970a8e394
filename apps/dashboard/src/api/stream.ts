import { readEventStream, toApiError } from '@botstead/contract'
import { fetchFromServer, headersOf, isFinal, type Scope, serverUrl } from './client.js'
import { noteRefusal } from './queries.js'

/** An item of a stream. */
interface StreamEvent {
  type: string
  data: unknown
}

interface FollowOptions {
  scope: Scope
  /** Path of the stream below the address of the server, with its query. */
  path: string
  /** Position after which it begins; the present if omitted. */
  after?: string | undefined
  signal: AbortSignal
}

/** Milliseconds before a broken stream is opened again: the first and the longest pause. */
const pauses = { first: 1000, max: 8000 }

/**
 * Yields what a stream sends. It goes on after the last event when the connection breaks, and when somebody signed in again.
 *
 * @throws ApiError when the server refuses the stream
 */
export async function* followStream(options: FollowOptions): AsyncGenerator<StreamEvent, void> {
  const { signal } = options
  let { after } = options
  let pause = pauses.first
  while (!signal.aborted) {
    try {
      const body = await open(options, after)
      for await (const { id, data } of readEventStream(body)) {
        pause = pauses.first
        if (id !== undefined) after = id
        if (data.startsWith('{')) yield JSON.parse(data)
      }
    } catch (error) {
      if (signal.aborted) return
      noteRefusal(error)
      if (isFinal(error)) throw error
    }
    if (signal.aborted) return
    await rest(pause, signal)
    pause = Math.min(pause * 2, pauses.max)
  }
}

async function open(
  { scope, path, signal }: FollowOptions,
  after: string | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const response = await fetchFromServer(serverUrl + path, {
    headers: {
      ...headersOf(scope),
      accept: 'text/event-stream',
      ...(after !== undefined && { 'last-event-id': after }),
    },
    signal,
  })
  if (!response.ok) throw toApiError(response.status, await response.text())
  return response.body ?? new ReadableStream()
}

function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}
