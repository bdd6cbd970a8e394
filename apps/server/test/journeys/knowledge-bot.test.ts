import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { pdf, sentences } from '../../../../packages/documents/test/pdf.js'
import { ask, startExample } from '../examples-started.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { startLanguageModel } from '../language-model.js'

const server = useServer()

describe('the knowledge bot', () => {
  let folder = ''
  let manual = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-knowledge-'))
    manual = join(folder, 'manual.pdf')
    const drawn = await pdf((document) => {
      document.fontSize(20).text('The pump').fontSize(11).text(sentences('pumps', 5))
      document.addPage().fontSize(20).text('Frost').fontSize(11)
      document.text('Drain the pump before the first frost. Open both valves for it.')
    })
    await writeFile(manual, drawn)
  })
  afterAll(async () => {
    await rm(folder, { recursive: true })
  })

  /** Starts the bot and waits until its documents are searchable. */
  async function startKnowing(environment: Record<string, string> = {}) {
    const terms = join(folder, 'terms.txt')
    const sentence = `The maker replaces ${'each seal and '.repeat(40)}each ring.`
    await writeFile(terms, `7. Guarantee on Seals. ${sentence}\n`)
    const models = join(folder, 'models.md')
    await writeFile(
      models,
      '| Model | Pressure |\n|---|---|\n| Tremolo | 17 bar |\n\nDelivery is free of charge.[^1]\n\n[^1]: For members.\n',
    )
    const hours = join(folder, 'hours.md')
    await writeFile(hours, '# Opening hours of the museum\n')
    const documents = [manual, terms, models, hours]
    const bot = await startExample(server(), 'knowledge-bot', environment, documents)
    const { bots } = await existingClient(server()).listBots({})
    const botId = bots.find(({ name }) => name === 'Knowledge bot')?.id ?? ''
    const client = existingClient(server(), { botId })
    await vi.waitFor(
      async () => {
        for (const id of ['manual.pdf', 'terms.txt', 'models.md', 'hours.md']) {
          const { file } = await client.getFile({ id })
          expect(file.status).toBe('indexing_completed')
        }
      },
      { interval: 50 },
    )
    return bot
  }
  const textOf = ({ payload }: Awaited<ReturnType<typeof ask>>) =>
    payload.type === 'text' ? payload.text : ''

  it('replies with quotes, page and link, and admits when it finds nothing', async () => {
    const { webhookId } = await startKnowing()
    const answer = textOf(await ask(server(), webhookId, 'What has to be done before frost?'))
    expect(answer).toMatch(/^“Drain the pump before the first frost\. Open both valves for it\.”\n/)
    const link = /^— \[manual\.pdf › Frost, page 2\]\((http\S+#page=2)\)$/m.exec(answer)?.[1] ?? ''
    const content = await fetch(link)
    expect(content.headers.get('content-type')).toBe('application/pdf')
    expect(Buffer.from(await content.arrayBuffer())).toEqual(await readFile(manual))

    // The best sentence is only a name there, so the text after it is quoted as well, cut between words.
    const terms = textOf(await ask(server(), webhookId, 'Who gives the guarantee on seals?'))
    expect(terms).toMatch(
      /^“Guarantee on Seals\. The maker replaces .+ (?:each|seal|and)…”\n— \[terms\.txt/,
    )
    expect(terms.split('\n')[0]?.length).toBeLessThan(425)

    // A row is quoted with the names of its columns.
    const pressure = textOf(await ask(server(), webhookId, 'Which pressure has the Tremolo?'))
    expect(pressure).toMatch(/^“Model: Tremolo \| Pressure: 17 bar[;”]/)

    // The mark of a footnote is no part of what is quoted.
    const delivery = textOf(await ask(server(), webhookId, 'Is delivery free of charge?'))
    expect(delivery).toMatch(/^“Delivery is free of charge\. For members\.”/)

    // A heading alone says nothing that could be quoted.
    const hours = textOf(
      await ask(server(), webhookId, 'What are the opening hours of the museum?'),
    )
    expect(hours).toMatch(/^I found nothing about that in my documents\./)

    const nothing = textOf(await ask(server(), webhookId, 'Who won the world cup in 1998?'))
    expect(nothing).toMatch(/^I found nothing about that in my documents\./)
    const hint = textOf(await ask(server(), webhookId, 'hi, how are you?'))
    expect(hint).toMatch(/^Ask me about something in my documents/)
  })

  it('says which documents it cannot read, and of which it could read only a part', async () => {
    const page = join(folder, 'harbour.html')
    await writeFile(page, '<p>The harbour has two piers.</p><p><img src="piers.png"></p>')
    const archive = join(folder, 'broken.zip')
    await writeFile(archive, 'no archive')
    const bot = await startExample(server(), 'knowledge-bot', {}, [page, archive, manual])
    const lines = bot.output().split('\n')
    expect(lines).toContain('knows manual.pdf')
    expect(lines).toContain(
      'knows harbour.html, but 1 thing of it could not be read: npx botstead files report "harbour.html" --bot "Knowledge bot"',
    )
    expect(lines.join('\n')).toMatch(/^cannot read broken\.zip: Files of type/m)
  })

  it('lets a language model write the reply, and quotes when that fails', async () => {
    await using model = await startLanguageModel()
    const { webhookId } = await startKnowing({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODEL: 'small',
    })
    model.words = ['Drain ', 'the pump', ' [1].']
    const answer = textOf(await ask(server(), webhookId, 'What has to be done before frost?'))
    expect(answer).toMatch(
      /^Drain the pump \[1\]\.\n\n\[1\] — \[manual\.pdf › Frost, page 2\]\(http/,
    )
    expect(model.calls).toMatchObject([{ authorization: 'Bearer sk-test', model: 'small' }])
    expect(model.calls[0]?.prompt).toContain('Open both valves')

    model.breaks = true
    const quoted = textOf(await ask(server(), webhookId, 'What has to be done before frost?'))
    expect(quoted).toMatch(/^“Drain the pump before the first frost\./)

    await ask(server(), webhookId, 'Who won the world cup in 1998?')
    expect(model.calls).toHaveLength(2)
  })
})
