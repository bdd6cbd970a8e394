import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A language model in the protocol of OpenAI, as the outside world would have one. */
export interface FakeModel extends AsyncDisposable {
  /** Address for OPENAI_BASE_URL. */
  readonly url: string
  /** Words that it streams; when it `breaks`, only the first of them. */
  words: readonly string[]
  breaks: boolean
  /** The requests that it received: messages, and the key. */
  readonly calls: { authorization: string | undefined; model: string; prompt: string }[]
}

interface Completion {
  model: string
  messages: { role: string; content: string }[]
}

export async function startLanguageModel(): Promise<FakeModel> {
  const server = createServer(async (request, response) => {
    const { model, messages } = (await json(request)) as Completion
    const prompt = messages.map(({ content }) => content).join('\n')
    fake.calls.push({ authorization: request.headers.authorization, model, prompt })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const said = fake.breaks ? fake.words.slice(0, 1) : fake.words
    for (const content of said) {
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
    }
    if (fake.breaks) response.write('', () => response.destroy())
    else response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const fake: FakeModel = {
    url: `http://127.0.0.1:${port}/v1/`,
    words: [],
    breaks: false,
    calls: [],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return fake
}
