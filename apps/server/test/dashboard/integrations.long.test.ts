import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)>'

describe.skipIf(browserPath === undefined)(`the screen of integrations ${title}`, () => {
  const server = useServer()

  it('says what an integration is, while there is none', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server(), { width: 360 })
    await open('integrations')
    await page.getByText('There is no integration yet.').waitFor()
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('finds one, makes a key for it, installs it in a bot and deletes it', async () => {
    const client = server().client()
    const { bot } = await client.createBot({ name: 'Desk' })
    const { integration } = await client.createIntegration({
      name: 'mail',
      version: '1.0.0',
      title: hostile,
      configuration: { schema: { type: 'object', properties: { host: { type: 'string' } } } },
    })
    await client.createIntegration({ name: 'other', version: '1.0.0' })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('integrations')
    await page.getByText(hostile).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('mail')
    await page.keyboard.press('Enter')
    await page.getByText('other').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'mail' }).click()
    await page.getByRole('heading', { name: 'mail 1.0.0' }).waitFor()
    await expectAccessible()

    await page.getByRole('link', { name: 'Keys and secrets' }).click()
    await page.getByLabel('What the new key is for').fill('deploy')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.locator('code', { hasText: 'bp_iak_' }).waitFor()
    await expectAccessible()
    const { iaks } = await client.listIntegrationApiKeys({ integrationId: integration.id })
    expect(iaks).toMatchObject([{ note: 'deploy' }])

    await page.getByRole('link', { name: 'Install', exact: true }).click()
    await page.getByRole('button', { name: 'Edit as JSON' }).click()
    await page.getByLabel('Configuration as JSON').fill('{"host": 5}')
    await page.getByRole('button', { name: 'Install' }).click()
    await page.getByText(/host/).first().waitFor()
    await page.getByRole('button', { name: 'Edit the fields' }).click()
    await page.getByLabel('host').fill('localhost')
    await page.getByRole('button', { name: 'Install' }).click()
    await page.getByText('It is installed.').waitFor()
    await expectAccessible()
    await page.getByRole('link', { name: 'Installations' }).click()
    await page.getByRole('link', { name: 'Desk' }).waitFor()
    await page.getByText('Webhook address').waitFor()
    await expectAccessible()
    const headers = { 'x-multiple-integrations': 'true' }
    const inBot = await client.getBot({ id: bot.id }, { headers })
    expect(inBot.bot.integrations.mail?.configuration).toEqual({ host: 'localhost' })

    await page.getByRole('link', { name: 'Log', exact: true }).click()
    await page.getByRole('heading', { name: 'Newest lines' }).waitFor()
    await expectAccessible()
    await client.updateBot({ id: bot.id, integrations: { mail: null } }, { headers })
    await page.getByRole('link', { name: 'Definition' }).click()
    await page.getByRole('button', { name: 'Delete the integration' }).click()
    await page.getByLabel('Type the name of the integration').fill('mail')
    await page.getByRole('button', { name: 'Delete for ever' }).click()
    await page.getByRole('link', { name: 'other' }).waitFor()
    expect(await page.getByRole('link', { name: 'mail' }).count()).toBe(0)
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([])
  })

  it('shows where an installation is set up that waits for its account', async () => {
    const client = server().client()
    const { bot } = await client.createBot({ name: 'Pages' })
    const { integration } = await client.createIntegration({
      name: 'pages',
      version: '1.0.0',
      url: 'http://127.0.0.1:9',
      configuration: {
        schema: {},
        identifier: {
          required: true,
          linkTemplateScript:
            'url = to_string!(.webhookUrl)\nid = to_string!(.webhookId)\n"{{ url }}/oauth/wizard/start?state={{ id }}"',
        },
      },
    })
    const installed = await client.updateBot(
      {
        id: bot.id,
        integrations: {
          pages: { integrationId: integration.id, enabled: true, configuration: {} },
        },
      },
      { headers: { 'x-multiple-integrations': 'true' } },
    )
    const webhookId = installed.bot.integrations.pages?.webhookId
    // The first script loads the engine, which takes long on a busy machine.
    await client.runVrl({ script: 'null', data: {} })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`integrations/${integration.id}?tab=installations`)
    await page.getByText('waits for its account').waitFor()
    const link = page.locator(`a[href$="/webhooks/oauth/wizard/start?state=${webhookId}"]`)
    await link.waitFor()
    expect(await link.getAttribute('rel')).toContain('noopener')
    await expectAccessible()
    expect(faults).toEqual([])
  })
})
