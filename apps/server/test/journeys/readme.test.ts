import { beforeAll, describe, expect, it } from 'vitest'
import { fiveMinutes, runAsPasted, tourOf } from '../documents.js'
import { engines } from '../engines.js'
import { startTestServer } from '../harness.js'

/**
 * The guides in the order in which they are pasted, after the five minutes and on the same server. Search
 * leaves a file behind that the guide to files would list.
 */
const guides = [
  'getting-started',
  'files',
  'runtime',
  'chat',
  'stream',
  'web-chat',
  'web-chat-page',
  'bots',
  'integrations',
  'operation',
  'errors',
  'search',
  'evaluation',
  'indexing',
].map((name) => `docs/guides/${name}.md`)
const border = '===='

/** Output of the five minutes and, by path, of each guide in a shell that has their variables. */
async function followAll(): Promise<{ first: string; written: Map<string, string> }> {
  const [engine] = engines
  if (engine === undefined) throw new Error('There is no engine to test on')
  const parts = guides.map(async (guide) => `echo '${border}'\n(\n${await tourOf(guide)})\n`)
  const script = [await fiveMinutes(), ...(await Promise.all(parts))].join('')
  const server = await startTestServer(engine)
  try {
    const [first = '', ...written] = (await runAsPasted(script, server)).split(`${border}\n`)
    expect(written).toHaveLength(guides.length)
    return { first, written: new Map(guides.map((guide, at) => [guide, written[at] ?? ''])) }
  } finally {
    await server.close()
  }
}

describe('the commands, pasted in order,', () => {
  let outputs = { first: '', written: new Map<string, string>() }
  const outputOf = (path: string) => outputs.written.get(path) ?? ''
  beforeAll(async () => {
    outputs = await followAll()
  })

  it('of the five minutes make the five calls', () => {
    const written = outputs.first
    expect(written).toContain("name: 'Guide'")
    expect(written).toContain('indexing_completed')
    expect(written).toContain('A message that was acknowledged is never lost.')
    expect(written.match(/^msg_\w{26}$/gm)).toHaveLength(2)
    expect(written).toContain("text: 'Is anybody there?'")
    expect(written).toContain("audioUrl: 'https://example.com/hello.mp3'")
    expect(written).not.toContain('undefined')
  })

  it('of the first guide make a key that works for the bot', () => {
    expect(outputOf('docs/guides/getting-started.md')).toBe("[ 'ARCHITECTURE.md' ]\n")
  })

  it('of the guide to files upload, find, replace and delete one', () => {
    const written = outputOf('docs/guides/files.md')
    expect(written).toContain('indexing_completed')
    expect(written).toContain("key: 'handbook/travel.txt'")
    expect(written).toContain("[ 'handbook/travel.txt' ]\n[ 'ARCHITECTURE.md' ]\n")
    expect(written).toContain("{ kind: 'rule' }\narchive/travel.txt\n")
    expect(written).toContain("[ 'kind' ]\n[ 'rule' ]\n")
    expect(written).toContain("[ 'archive/travel.txt' ]\n[ 'Handbook' ]\n")
    expect(written).toMatch(/file_upload_completed archive\/travel\.txt/)
    expect(written).toMatch(
      /by the office\..*by the office\.\{\}\nTrips are booked by each team\.\{\}\n$/s,
    )
    expect(written).not.toContain('undefined')
  })

  it('of the guide to the runtime act as a bot and as an integration', () => {
    const written = outputOf('docs/guides/runtime.md')
    expect(written).toContain("{ 'mail:address': 'ada@example.com' }\n{ created: false }\n")
    expect(written).toContain('incoming\noutgoing\n')
    expect(written).toContain("{ text: 'It is.' }")
    expect(written).toContain('scheduled\n{}\n')
    expect(written).toContain("{ item: 'pump', count: 2 }\nworkflow_started\ncompleted\n")
    expect(written).not.toContain('undefined')
  })

  it('of the guide to search return passages in three shapes, and list and set them', () => {
    const written = outputOf('docs/guides/search.md')
    expect(written).toMatch(/\[\s+0\.\d+,\s+'ARCHITECTURE.md',\s+\{ type: 'chunk'/)
    expect(written).toContain('\n# Architecture\n\n## Processes\n')
    expect(written).toMatch(/\[ \[ 'ARCHITECTURE.md', \d+ \] \]\n/)
    expect(written).toMatch(/keyword: [01]\.\d/)
    expect(written).toContain('(.zip) cannot be indexed.')
    expect(written).toMatch(/indexing_pending\nindexing_completed\n/)
    expect(written).toMatch(/pageNumber: 4, position: 1 \}\n$/)
  })

  it('of the guide to evaluation make a set, run it and compare two runs', () => {
    const written = outputOf('docs/guides/evaluation.md')
    expect(written).toContain(
      "[ [ 'ARCHITECTURE.md', 'present' ] ]\n{ ndcg: 1, recall: 1, mrr: 1 }\n",
    )
    expect(written).toContain("[ [ 'How does the server stop?', 1, 0, 'ARCHITECTURE.md' ] ]\n")
    expect(written).toContain('{ difference: 0, pValue: 1 }\n')
    expect(written).toContain('"relevant":{"ARCHITECTURE.md":1}')
  })

  it('of the guide to indexing say what was not read', () => {
    const written = outputOf('docs/guides/indexing.md')
    expect(written).toMatch(/^1\n/)
    expect(written).toContain('1 picture without a description')
    expect(written).toContain('alternative text')
  })

  it('of the guide to chat send a message once', () => {
    const written = outputOf('docs/guides/chat.md')
    expect(written).toMatch(/^http.*\/chat\/[\w-]{36}\n\{ status: 'ok' \}\n/)
    expect(written).toContain("name: 'Grace'")
    const ids = written.match(/msg_\w{26}/g) ?? []
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(1)
  })

  it('of the guide to the stream return a message that was missed', () => {
    const written = outputOf('docs/guides/stream.md')
    expect(written).toMatch(/id: 1\nevent: message\ndata: \{"type":"message_created",/)
  })

  it('of the guide to the web chat open one', () => {
    const written = outputOf('docs/guides/web-chat.md')
    expect(written).toMatch(/event: message\ndata: \{"type":"init","data":\{"conversation":/)
  })

  it('of the guide to a web chat on a page change its settings and return its script', () => {
    const written = outputOf('docs/guides/web-chat-page.md')
    expect(written).toContain("[ 'color', 'greeting', 'suggestedQuestions' ]")
    expect(written).toMatch(/<script src="http:\S+\/webchat\/[\w-]+\/inject\.js" defer><\/script>/)
  })

  it('of the guide to bots create one that replies', () => {
    const written = outputOf('docs/guides/bots.md')
    expect(written).toContain("Good morning\n[ 'You said: Good morning', 'Good morning' ]\n")
    expect(written).toContain("[ 'error: Invoice 4711 has no total' ]\n13\n")
  })

  it('of the guide to operation show what is wrong', () => {
    const written = outputOf('docs/guides/operation.md')
    expect(written).toMatch(/^attention\n/)
    expect(written).toContain('1 Invoice 4711 has no total')
    expect(written).toContain("'database: ok'")
    expect(written).toContain("'PORT=0 from environment'")
    expect(written).toMatch(/'storage \d+ of 10000000000 bytes'/)
  })

  it('of the guide to integrations ask a bot through one', () => {
    const written = outputOf('docs/guides/integrations.md')
    expect(written).toContain('Hello! Try "story", "bloc" or "metadata".\n')
    expect(written).toMatch(/\[ 'desk', '1\.0\.0' \].*\]\nregistered\n/)
    expect(written).toContain("[ 'desk', 'message_created', '")
    expect(written).toContain("[ 'Porter desk registered' ]")
    expect(written).toContain('\nbp_iak_\n')
    expect(written).toMatch(/\nbutler\n\[ 'butler' \]\nplugin\n$/)
  })

  it('of the guide to errors are refused as the guide says', () => {
    const written = outputOf('docs/guides/errors.md')
    expect(written).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nx-request-id: req_/)
    expect(written).toContain('"message":"body.size must be at least 0."')
    expect(written).toMatch(/\n([\w-]{36})\n\1\n\{\s+id: 'req_\w+',\s+code: 409,/)
  })
})
