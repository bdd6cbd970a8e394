import type { Client } from '@botstead/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import { integration, type TestBot, useFiles } from '../../../test/files.js'

/** The creators and readers of files. */
const files = {
  ofBot: { caller: undefined, accessPolicies: [] },
  ofBotShared: { caller: undefined, accessPolicies: ['integrations'] },
  ofUser: { caller: { type: 'user', id: 'user_1', role: 'editor' }, accessPolicies: [] },
  ofFirst: { caller: integration('first'), accessPolicies: [] },
  ofFirstShared: { caller: integration('first'), accessPolicies: ['integrations'] },
  ofFirstPublic: { caller: integration('first'), accessPolicies: ['public_content'] },
} as const
type Name = keyof typeof files

const callers = {
  bot: undefined,
  user: { type: 'user', id: 'user_2', role: undefined },
  first: integration('first'),
  second: integration('second'),
} as const

const all = Object.keys(files) as Name[]
const reads: Record<keyof typeof callers, readonly Name[]> = {
  bot: all,
  user: all,
  first: ['ofBotShared', 'ofFirst', 'ofFirstShared', 'ofFirstPublic'],
  second: ['ofBotShared', 'ofFirstShared'],
}
const changes: Record<keyof typeof callers, readonly Name[]> = {
  bot: all,
  user: all,
  first: ['ofFirst', 'ofFirstShared', 'ofFirstPublic'],
  second: [],
}

describeSlow('who reads and changes which file', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot
  const ids = new Map<string, string>()

  beforeAll(async () => {
    bot = bench().newBot()
    for (const [name, { caller, accessPolicies }] of Object.entries(files)) {
      const tags = { [`tag-${name}`]: name, all: name }
      const file = await bot.uploadAndWait(
        { key: `${name}.md`, index: true, tags, accessPolicies: [...accessPolicies] },
        `# Title\n\nThe word ${name}.`,
        caller,
      )
      ids.set(name, file.id)
    }
  })

  const idOf = (name: string) => ids.get(name) ?? ''
  const outcome = async (call: Promise<unknown>) =>
    await call.then(
      () => 'done',
      (error: { type: string }) => error.type,
    )

  describe.each(Object.entries(callers))('%s', (who, caller) => {
    const client = (): Client => bot.as(caller)
    const readable = reads[who as keyof typeof callers]
    const own = changes[who as keyof typeof callers]
    const expected = (name: Name) =>
      own.includes(name) ? 'done' : readable.includes(name) ? 'Forbidden' : 'ResourceNotFound'

    it('lists, finds and sees tags of the same files', async () => {
      const listed = (await client().listFiles()).files.map(({ key }) => key.slice(0, -3))
      expect(listed.toSorted()).toEqual([...readable].toSorted())
      const { passages } = await client().searchFiles({ query: 'word' })
      const found = passages.map(({ file }) => file.key.slice(0, -3))
      expect(found.toSorted()).toEqual([...readable].toSorted())
      const { values } = await client().listFileTagValues({ tag: 'all' })
      expect(values).toEqual([...readable].toSorted())
      const { tags } = await client().listFileTags()
      expect(tags).toEqual(['all', ...readable.map((name) => `tag-${name}`).toSorted()])
    })

    it.each(all)('gets and copies %s if allowed', async (name) => {
      const rule = readable.includes(name) ? 'done' : 'ResourceNotFound'
      expect(await outcome(client().getFile({ id: idOf(name) }))).toBe(rule)
      const destinationKey = `copy of ${name} by ${who}`
      const copied = outcome(client().copyFile({ idOrKey: idOf(name), destinationKey }))
      expect(await copied).toBe(rule)
      if (rule === 'done') await client().deleteFile({ id: destinationKey })
    })

    it.each(all)('changes %s if allowed', async (name) => {
      const call = client().updateFileMetadata({ id: idOf(name), metadata: { by: who } })
      expect(await outcome(call)).toBe(expected(name))
    })

    it.each(all)('reads the content of %s at the address it was given', async (name) => {
      const { file } = await bot.as().getFile({ id: idOf(name) })
      const bare = file.url.split('?')[0] ?? ''
      const isPublic = name === 'ofFirstPublic'
      expect((await fetch(bare)).status).toBe(isPublic ? 200 : 404)
      expect((await fetch(file.url)).status).toBe(200)
    })
  })

  it('shows knowledge bases to an integration that created them or sees one of their files', async () => {
    const own = bench().newBot()
    const [first, second] = [own.as(integration('first')), own.as(integration('second'))]
    const make = async (client: Client, name: string) =>
      (await client.createKnowledgeBase({ name })).knowledgeBase.id
    const shared = await make(own.as(), 'shared')
    const closed = await make(own.as(), 'closed')
    const ofFirst = await make(first, 'first')
    const put = (kbId: string, accessPolicies: ('integrations' | 'public_content')[]) =>
      own.as().upsertFile({ key: kbId, size: 1, tags: { kbId }, accessPolicies })
    await put(shared, ['integrations'])
    await put(closed, [])
    const namesOf = async (client: Client) =>
      (await client.listKnowledgeBases()).knowledgeBases.map(({ name }) => name).toSorted()
    expect(await namesOf(own.as())).toEqual(['closed', 'first', 'shared'])
    expect(await namesOf(first)).toEqual(['first', 'shared'])
    expect(await namesOf(second)).toEqual(['shared'])

    const change = (client: Client, id: string) =>
      outcome(client.updateKnowledgeBase({ id, name: 'taken' }))
    const remove = (client: Client, id: string) => outcome(client.deleteKnowledgeBase({ id }))
    for (const attempt of [change, remove]) {
      expect(await attempt(first, closed)).toBe('ResourceNotFound')
      expect(await attempt(first, shared)).toBe('Forbidden')
      expect(await attempt(second, ofFirst)).toBe('ResourceNotFound')
    }
    expect(await namesOf(own.as())).toEqual(['closed', 'first', 'shared'])
    expect(await change(first, ofFirst)).toBe('done')
    expect(await remove(first, ofFirst)).toBe('done')
    expect(await remove(own.as(), closed)).toBe('done')
    expect(await remove(own.as(), closed)).toBe('ResourceNotFound')
  })

  it('hides the log of files from integrations', async () => {
    expect((await bot.as().listFileEvents({ pageSize: 1 })).events).toHaveLength(1)
    const call = bot.as(integration('first')).listFileEvents()
    await expect(call).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('pages through tags without gaps, also past those of hidden files', async () => {
    const { client } = { client: bot.as(integration('second')) }
    const seen: string[] = []
    let nextToken: string | undefined
    do {
      const page = await client.listFileTags({ pageSize: 1, nextToken })
      expect(page.tags.length).toBeLessThanOrEqual(1)
      seen.push(...page.tags)
      nextToken = page.meta.nextToken
    } while (nextToken !== undefined)
    expect(seen).toEqual(['all', 'tag-ofBotShared', 'tag-ofFirstShared'])
    const { meta } = await client.listFileTags({ pageSize: 1 })
    await expect(
      bot.as().listFileTags({ pageSize: 1, nextToken: meta.nextToken }),
    ).rejects.toMatchObject({ type: 'InvalidQuery' })
  })
})
