import { describe, expect, it } from 'vitest'
import { useBp } from '../bp.js'
import { readDocument } from '../documents.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'

/** The commands of the guide, without the quotes of the shell. */
async function commandsOf(heading: string): Promise<string[][]> {
  const guide = await readDocument('docs/guides/integrations.md')
  const [, rest = ''] = guide.split(`## ${heading}\n`)
  const [section = ''] = rest.split('\n## ')
  return [...section.matchAll(/^ *bp (.+)$/gm)].map(([, words = '']) =>
    words.replaceAll('"', '').split(' '),
  )
}

describe('the guide to deploying an open integration', () => {
  const server = useServer()
  const bp = useBp()

  /** Runs a command; again if the code that it deploys did not load in time, on a machine that is very busy. */
  async function succeed(words: readonly string[]): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const { status, output } = await bp().run(words)
      if (status === 0) return output
      if (attempt === 5 || !output.includes('was not loaded within')) throw new Error(output)
    }
  }

  it('has commands that deploy it, find it and install it in a bot', async () => {
    const admin = existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
    await admin.updateWorkspace({ id: server().workspaceId, handle: 'acme' })
    const given: Record<string, string> = {
      $API: server().url,
      $TOKEN: server().token,
      $WORKSPACE: server().workspaceId,
    }
    const integration = await bp().project('messenger')
    const user = await bp().project('messenger-bot')
    const commands = await commandsOf('Deploy an open integration, step by step')
    const run: string[] = []
    for (const words of commands) {
      const isOfBot = words[0] === 'add' || words.includes('--createNewBot')
      const needsFolder = isOfBot || words[0] === 'deploy'
      const folder = needsFolder ? ['--workDir', isOfBot ? user : integration] : []
      const output = await succeed([...words.map((word) => given[word] ?? word), ...folder])
      run.push(`${words[0]} ${words[1]}`)
      if (words[1] === 'list') expect(output).toContain('acme/messenger')
    }
    expect(run).toEqual([
      'login --apiUrl',
      'deploy --secrets',
      'integrations list',
      'add acme/messenger@0.1.0',
      'deploy --createNewBot',
    ])
    const [found] = (await admin.listIntegrations({ name: 'acme/messenger' })).integrations
    const { installations } = await server()
      .client()
      .listIntegrationInstallations({ id: found?.id ?? '' })
    expect(installations).toMatchObject([{ enabled: true, status: 'registered' }])
    for (const name of ['acme/messenger', 'messenger']) {
      const verified = await server().fetch(`/integration/global/${name}?challenge=42`)
      expect([verified.status, await verified.text()]).toEqual([200, '42'])
    }
  }, 600_000)
})
