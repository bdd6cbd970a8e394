import { expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { useHttpBots } from '../../../../test/http-bot.js'
import { addAccount } from '../../../../test/tenant.js'

describeEachEngine('the installations of an integration', (engine) => {
  const server = useServer(engine)
  const https = useHttpBots()

  it('are listed over all bots, with their status and last error', async () => {
    const admin = server().client()
    const works = await admin.createIntegration({
      name: 'works',
      version: '1.0.0',
      url: https.as().url,
    })
    const fails = await admin.createIntegration({
      name: 'fails',
      version: '1.0.0',
      url: 'http://127.0.0.1:9',
    })
    const install = (integrationId: string) => ({
      integrationId,
      enabled: true,
      configuration: {},
    })
    const bots: string[] = []
    for (let i = 0; i < 5; i += 1) {
      const { bot } = await admin.createBot({ name: `bot ${i}` })
      bots.push(bot.id)
      await admin.updateBot({
        id: bot.id,
        integrations: {
          one: install(works.integration.id),
          ...(i === 0 && { two: install(works.integration.id) }),
          bad: install(fails.integration.id),
        },
      })
    }

    const list = async (id: string, more: object = {}) => {
      const all = []
      let nextToken: string | undefined
      do {
        const page = await admin.listIntegrationInstallations({
          id,
          pageSize: 2,
          ...more,
          ...(nextToken && { nextToken }),
        })
        all.push(...page.installations)
        nextToken = page.meta.nextToken
      } while (nextToken)
      return all
    }
    const working = await list(works.integration.id)
    expect(working.map(({ botId, alias }) => `${botId}/${alias}`)).toEqual(
      [...bots.map((id) => `${id}/one`), `${bots[0]}/two`].toSorted(),
    )
    expect(working.find(({ alias }) => alias === 'two')).toMatchObject({
      botName: 'bot 0',
      enabled: true,
      status: 'registered',
      webhookUrl: expect.stringMatching(/\/webhooks\/./),
    })
    expect(working[0]).not.toHaveProperty('lastError')

    await vi.waitFor(async () => {
      const failing = await list(fails.integration.id, { status: 'registration_failed' })
      expect(failing).toHaveLength(5)
      for (const each of failing) {
        expect(each.statusReason).toMatch(/\S/)
        expect(each.lastError?.message).toMatch(/^register failed: \S/)
      }
    })
    expect(await list(fails.integration.id, { status: 'registered' })).toEqual([])
  })

  it('are those of the own workspace', async () => {
    const { integration } = await server()
      .client()
      .createIntegration({ name: 'hidden', version: '1.0.0' })
    const other = server().client(await addAccount(server()))
    const refusalOf = (id: string) =>
      other
        .listIntegrationInstallations({ id })
        .catch(({ type, message }) => [type, message.replace(id, '')])
    const refused = await refusalOf('none')
    expect(refused).toEqual(['ResourceNotFound', expect.any(String)])
    expect(await refusalOf(integration.id)).toEqual(refused)
  })
})
