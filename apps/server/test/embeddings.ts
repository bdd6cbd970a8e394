import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, beforeAll } from 'vitest'

/** The present behaviour of the endpoint. */
type Mood =
  | 'well'
  | 'down'
  | 'without the large model'
  | 'silent'
  | 'busy once'
  | 'refusing long texts'
  | 'odd once'

/** A place in a made-up space of meaning: one axis per theme. */
const themes = [
  ['car', 'automobile', 'vehicle'],
  ['doctor', 'physician', 'medic'],
  ['bread', 'loaf', 'bakery'],
  ['river', 'stream', 'creek'],
]

/** An embeddings endpoint in the protocol of OpenAI, as the outside world would have one. */
export interface FakeEndpoint {
  /** Address for BOTSTEAD_EMBEDDINGS_URL; known before it listens. */
  readonly url: string
  mood: Mood
  /** Numbers of a vector beyond the themes. */
  padding: number
  /** Sent in place of vectors while it is set. */
  hostile: string | undefined
  /** Models and amounts of texts of the calls so far. */
  readonly calls: { model: string; texts: number; authorization: string | undefined }[]
}

/** Serves for the tests of the surrounding `describe`. */
export function useEmbeddings(port: number): FakeEndpoint {
  const endpoint: FakeEndpoint = {
    url: `http://127.0.0.1:${port}/v1`,
    mood: 'well',
    padding: 4,
    hostile: undefined,
    calls: [],
  }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const body: { model: string; input: string[] } = JSON.parse(text)
      const { authorization } = request.headers
      endpoint.calls.push({ model: body.model, texts: body.input.length, authorization })
      const respond = (status: number, value: unknown, headers: Record<string, string> = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        response.end(JSON.stringify(value))
      }
      if (endpoint.mood === 'silent') return
      if (endpoint.hostile !== undefined) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(endpoint.hostile)
        return
      }
      const isGone = endpoint.mood === 'without the large model' && body.model === 'large'
      if (endpoint.mood === 'down' || isGone) return respond(503, { error: 'no model' })
      if (endpoint.mood === 'busy once') {
        endpoint.mood = 'well'
        return respond(429, { error: 'slow down' }, { 'retry-after': '0' })
      }
      if (
        endpoint.mood === 'refusing long texts' &&
        body.input.some((each) => each.length > 1000)
      ) {
        return respond(400, { error: 'too long' })
      }
      const padding = endpoint.padding + (endpoint.mood === 'odd once' ? 1 : 0)
      if (endpoint.mood === 'odd once') endpoint.mood = 'well'
      const data = body.input.map((each, index) => ({ index, embedding: vectorOf(each, padding) }))
      // The order of the response differs from that of the request.
      respond(200, { data: data.reverse() })
    })
  })
  beforeAll(async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return endpoint
}

function vectorOf(text: string, padding: number): number[] {
  const words = text.toLowerCase()
  const place = themes.map((theme) => (theme.some((word) => words.includes(word)) ? 1 : 0.01))
  return [...place, ...Array.from({ length: padding }, () => 0.01)]
}
