import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { eventually } from '../jobs.js'
import { openDashboard, untilRefreshed } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

describe.skipIf(browserPath === undefined)(`the screen of deliveries ${title}`, () => {
  const server = useServer()
  const bots = useHttpBots()

  it('says what a delivery is while there is none, and sends a test event', async () => {
    const { botId, write } = await addBot(server(), 'Quiet', bots.as().url)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('deliveries', botId)
    await page.getByText('There is no delivery yet.').waitFor()
    expect(await page.getByText(`npx botstead chat --bot ${botId}`).count()).toBe(1)
    await expectAccessible()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send a test event' })
    await dialog.getByLabel('Payload').fill('[1]')
    await dialog.getByText('This is not a JSON object.').waitFor()
    await dialog.getByLabel('Payload').fill('{"order": 17}')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText('Accepted').waitFor()
    await expectAccessible()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await write('The first one')
    await page.getByRole('row').getByText('Delivered').waitFor()
    expect(faults).toEqual([])
  })

  it('finds a failed delivery, shows why it failed, and replays it by a key', async () => {
    const { botId, write } = await addBot(server(), hostile, bots.as('refusing').url)
    const conversationId = await write(hostile)
    await untilFailed(server(), botId, 1)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('deliveries', botId)
    await page.getByRole('link', { name: 'Failed 1' }).click()
    await page.getByRole('cell', { name: 'I do not want this.' }).waitFor()
    await expectAccessible()

    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'message_created' }).waitFor()
    const attempts = page.getByRole('region', { name: 'Attempts' })
    await attempts.getByText('Status 400', { exact: true }).waitFor()
    await attempts
      .getByText(/^t=\d+,v1=[0-9a-f]{64}/)
      .first()
      .waitFor()
    await attempts.getByText('x-botstead-delivery').waitFor()
    await attempts.getByText('the signature proves it').waitFor()
    await attempts.getByText('onerror=alert(1)').waitFor()
    await page.getByRole('link', { name: conversationId }).waitFor()
    await expectAccessible()

    await server().client().updateBot({ id: botId, url: bots.as().url })
    await page.reload()
    await attempts.getByText('Attempt 1').waitFor()
    // A list that is read after the replay does not have the row.
    await page.getByRole('row').getByText('Failed').waitFor()
    await page.keyboard.press('r')
    await page.getByText('The delivery is sent again.').waitFor()
    await attempts.getByText('Attempt 2').waitFor()
    await page.getByRole('definition').getByText('Delivered', { exact: true }).waitFor()
    // The row stays where it was, with its new state, although it no longer matches the filter.
    await page.getByRole('row').getByText('Delivered').waitFor()
    await page.getByRole('link', { name: 'Delivered 1' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'message_created' }).waitFor({ state: 'detached' })
    expect(page.url()).toMatch(/\/deliveries\?status=failed$/)
    expect(faults).toEqual([])
  })

  it('replays the selected, and all that failed, with progress that outlives the page', async () => {
    const { botId, write } = await addBot(server(), 'Orders', bots.as('refusing').url)
    for (const text of ['one', 'two', 'three']) await write(text)
    await untilFailed(server(), botId, 3)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('deliveries?status=failed', botId)
    await page.getByRole('link', { name: 'Failed 3' }).waitFor()
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Replay the selected' }).click()
    const replays = page.getByRole('region', { name: 'Replays' })
    await replays.getByText('2 of 2 replayed: 0 delivered, 2 failed again.').waitFor()
    await expectAccessible()
    await replays.getByRole('button', { name: 'Dismiss' }).click()
    await replays.waitFor({ state: 'detached' })

    await server().client().updateBot({ id: botId, url: bots.as().url })
    // So that the replay lasts until the test has seen it in both pages.
    await server().client().pauseDeliveries({ id: botId })
    await page.getByRole('button', { name: 'Replay…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay deliveries' })
    await dialog.getByRole('button', { name: 'Replay 3' }).waitFor()
    await expectAccessible()
    await dialog.getByLabel('Failed').uncheck()
    expect(await dialog.getByRole('button', { name: 'Replay', exact: true }).isDisabled()).toBe(
      true,
    )
    await dialog.getByLabel('Failed').check()
    await dialog.getByRole('button', { name: 'Replay 3' }).click()
    await dialog.waitFor({ state: 'detached' })
    await replays.getByText('3 of 3 replayed: 0 delivered, 3 waiting.').waitFor()
    await open('bots')
    await open('deliveries?status=failed', botId)
    await replays.getByText('3 of 3 replayed: 0 delivered, 3 waiting.').waitFor()
    await server().client().resumeDeliveries({ id: botId })
    await replays.getByText('3 of 3 replayed: 3 delivered.').waitFor()
    await page.getByText('No delivery matches all of these filters.').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByRole('row').getByText('Delivered').nth(2).waitFor()
    expect(faults).toEqual([])
  })

  it('calls nothing failed any more that was replayed elsewhere: one by a command, all by a call, many as a job', async () => {
    const client = server().client()
    const untilDone = (replayId: string) =>
      eventually(async () => {
        expect((await client.getDeliveryReplay({ replayId })).replay.state).toBe('done')
      })
    const replays = [
      async (botId: string) => {
        const { deliveries } = await client.listDeliveries({ id: botId })
        for (const { id: deliveryId } of deliveries) {
          await client.replayDelivery({ id: botId, deliveryId })
        }
      },
      async (botId: string) => void (await client.replayFailedDeliveries({ id: botId })),
      async (botId: string) => untilDone((await client.createDeliveryReplay({ botId })).replay.id),
    ]
    // A page that shows a replay while it runs reads its list again at the end, and the row leaves it.
    let end = () => {}
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    const mended = replays.map(async (replay, at) => {
      const { botId, write } = await addBot(server(), `Mended ${at}`, bots.as('refusing').url)
      await write('one')
      await untilFailed(server(), botId, 1)
      const [list, conversations] = [await openDashboard(server()), await openDashboard(server())]
      for (const { page } of [list, conversations]) await page.clock.install()
      await list.page.route(/delivery-replays/, async (asked) => {
        await over
        await asked.continue()
      })
      await list.open('deliveries?status=failed', botId)
      await list.page.getByRole('row').getByText('Failed').waitFor()
      await conversations.open('conversations?failed=yes', botId)
      await conversations.page.getByRole('row').getByText('Failed').waitFor()
      await client.updateBot({ id: botId, url: bots.as().url })
      await replay(botId)
      await untilFailed(server(), botId, 0)
      return { list, conversations }
    })
    const opened = await Promise.all(mended)
    end()
    server().clock.advance(5000)
    for (const { list, conversations } of opened) {
      await untilRefreshed(list.page, list.page.getByRole('row').getByText('Delivered'))
      await untilRefreshed(list.page, list.page.getByRole('link', { name: 'Delivered 1' }))
      const failed = conversations.page.getByRole('row').getByText('Failed')
      await untilRefreshed(conversations.page, failed, 'detached')
      expect([...list.faults, ...conversations.faults]).toEqual([])
    }
  })

  it('shows a replay that began elsewhere, and reads the list again at its end', async () => {
    const client = server().client()
    const { botId, write } = await addBot(server(), 'Replayed', bots.as('refusing').url)
    await write('one')
    await untilFailed(server(), botId, 1)
    const { page, open, faults } = await openDashboard(server())
    await page.clock.install()
    await open('deliveries?status=failed', botId)
    await page.getByRole('row').getByText('Failed').waitFor()
    await client.updateBot({ id: botId, url: bots.as().url })
    await client.pauseDeliveries({ id: botId })
    await client.createDeliveryReplay({ botId })
    const replays = page.getByRole('region', { name: 'Replays' })
    await untilRefreshed(page, replays.getByText('1 of 1 replayed: 0 delivered, 1 waiting.'))
    await untilRefreshed(page, page.getByRole('row').getByText('Trying again'))
    await client.resumeDeliveries({ id: botId })
    await untilRefreshed(page, page.getByText('No delivery matches all of these filters.'))
    expect(faults).toEqual([])
  })

  it('pauses a receiver, says so, and lets it go on', async () => {
    const { botId, write } = await addBot(server(), 'Billing', bots.as().url)
    await write('before')
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('deliveries', botId)
    await page.getByRole('row').getByText('Delivered').waitFor()
    await page.getByRole('row').getByRole('link', { name: 'message_created' }).click()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Pause deliveries to Billing' }).click()
    const receivers = page.getByRole('region', { name: 'Receivers that fail or are paused' })
    await receivers.getByText('Paused by hand').waitFor()
    await expectAccessible()

    await write('meanwhile')
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('row').getByText('Waiting').waitFor()
    await receivers.getByText('Oldest waiting delivery').waitFor()
    await page.getByRole('row').getByRole('link', { name: 'message_created' }).first().click()
    await page.getByText('The receiver is paused.').waitFor()
    await receivers.getByRole('button', { name: 'Resume deliveries to Billing' }).click()
    await receivers.waitFor({ state: 'detached' })
    await page.getByRole('definition').getByText('Delivered', { exact: true }).waitFor()
    expect(faults).toEqual([])
  })

  it('filters by chips that are in the address', async () => {
    const { botId, write } = await addBot(server(), 'Filtered', bots.as().url)
    const first = await write('one')
    await write('two')
    const { page, open, faults } = await openDashboard(server())
    await open('deliveries', botId)
    await page.getByRole('row').getByText('Delivered').nth(1).waitFor()
    await page.keyboard.press('/')
    await page.getByRole('menuitem', { name: 'Conversation' }).click()
    await page.getByRole('searchbox', { name: 'Conversation' }).fill(first)
    await page.waitForURL(new RegExp(`conversation=${first}`))
    await page.getByRole('link', { name: 'Delivered 1' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Delivered 1' }).waitFor()
    expect(await page.getByRole('row').getByText('Delivered').count()).toBe(1)
    await page.getByRole('row').getByRole('link', { name: 'Open' }).click()
    await page.waitForURL(new RegExp(`/conversations/${first}`))
    expect(faults).toEqual([])
  })

  it('says that there is no such delivery, and that a workspace is not that of the reader', async () => {
    const { page, open } = await openDashboard(server())
    await open('deliveries/delivery_0000000000000000000000000A')
    await page.getByText('There is no delivery delivery_0000000000000000000000000A').waitFor()
    await page.goto(`${server().url}/dashboard/00000000-0000-4000-8000-000000000000/all/deliveries`)
    await page.getByRole('heading', { name: 'You may not see this' }).first().waitFor()
  })

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits on a screen of %i by %i', async (width, height) => {
    const { botId, write } = await addBot(server(), hostile, bots.as('refusing').url)
    await write('x'.repeat(5000))
    await untilFailed(server(), botId, 1)
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme: 'dark',
    })
    await open('deliveries', botId)
    await page.getByRole('row').getByText('Failed').waitFor()
    await expectAccessible()
    await page.getByRole('row').getByRole('link', { name: 'message_created' }).click()
    await page.getByRole('region', { name: 'Attempts' }).getByText('Attempt 1').waitFor()
    const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(width)
    await expectAccessible()
    expect(faults).toEqual([])
  })
})

/** A bot, and a function that writes to it in a new conversation, whose id it returns. */
async function addBot(server: TestServer, name: string, url: string) {
  const { bot } = await server.client().createBot({ name, url })
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await server.client({ webhookId }).chatCreateUser({})
  const chat = server.client({ webhookId, userKey })
  return {
    botId: bot.id,
    write: async (text: string): Promise<string> => {
      const { conversation } = await chat.chatCreateConversation({})
      const payload = { type: 'text' as const, text }
      await chat.chatCreateMessage({ conversationId: conversation.id, payload })
      return conversation.id
    },
  }
}

async function untilFailed(server: TestServer, botId: string, count: number): Promise<void> {
  await eventually(async () => {
    const { deliveries } = await server.client().listDeliveries({ id: botId, status: 'failed' })
    expect(deliveries).toHaveLength(count)
  })
}
