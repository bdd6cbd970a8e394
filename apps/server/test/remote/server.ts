import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** A request to the server of a bot or an integration. */
export interface RemoteRequest {
  method: string
  url: string
  headers: Record<string, string | undefined>
  body: string
  /** The body as JSON, with the members that tests look at. */
  json: RemoteBody
}

interface RemoteBody {
  type?: string
  input?: Record<string, unknown>
  [member: string]: unknown
}

/** Its response. */
export interface RemoteResponse {
  status?: number
  headers?: Record<string, string | string[]>
  /** Text as it is, anything else as JSON. */
  body?: unknown
  /** Breaks the connection instead. */
  breaks?: boolean
}

/** Undefined makes the caller wait forever. */
type Behavior = (request: RemoteRequest) => RemoteResponse | undefined | Promise<RemoteResponse>

/** An HTTP server in its own process, whose responses the test decides. */
export interface Remote {
  url: string
  /** Requests since the test began. */
  requests: RemoteRequest[]
  /** Those with one operation in `x-bp-operation`. */
  requestsOf(operation: string): RemoteRequest[]
  /** Sets the responses until the end of the test; by default 200 and `{}`. */
  behave(behavior: Behavior): void
  close(): void
}

const obliging: Behavior = () => ({})

async function startRemote(): Promise<Remote & { reset(): void }> {
  const child = fork(fileURLToPath(new URL('./process.mjs', import.meta.url)), { stdio: 'inherit' })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (first) => resolve(Number(Reflect.get(Object(first), 'port'))))
    child.once('error', reject)
  })
  let behavior = obliging
  const requests: RemoteRequest[] = []
  child.on('message', (message: RemoteRequest & { id: number }) => {
    const request = { ...message, json: parse(message.body) }
    // Bots are greeted when they are deployed, at a time of its own: tests are about what follows.
    if (isGreeting(request)) return send(child, message.id, {})
    requests.push(request)
    void Promise.resolve(behavior(request)).then(
      (response) => response && send(child, message.id, response),
    )
  })
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    requestsOf: (operation) =>
      requests.filter(({ headers }) => headers['x-bp-operation'] === operation),
    behave(next) {
      behavior = next
    },
    reset() {
      behavior = obliging
      requests.length = 0
    },
    close: () => child.disconnect(),
  }
}

/**
 * One for the tests of the surrounding `describe`, fresh in each; call the returned function inside
 * a test.
 */
export function useRemote(): () => Remote {
  let running: Awaited<ReturnType<typeof startRemote>> | undefined
  beforeAll(async () => {
    running = await startRemote()
  })
  beforeEach(() => running?.reset())
  afterAll(() => running?.close())
  return () => {
    if (running === undefined) throw new Error('The remote server is there only while a test runs')
    return running
  }
}

function isGreeting({ headers }: RemoteRequest): boolean {
  return headers['x-bp-operation'] === 'register' && headers['x-integration-id'] === undefined
}

function send(child: ChildProcess, id: number, response: RemoteResponse): void {
  const { status = 200, headers = {}, body = {}, breaks = false } = response
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  child.send({ id, status, headers, body: text, breaks })
}

function parse(body: string): RemoteBody {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}
