import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { talkTo } from '../hosted-code.js'
import { deployBot, echo, withoutPauses } from '../hosting/hosted.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const reason = /^Given up, because it ended the code 3 times\. .*exit code 3/

describe.skipIf(browserPath === undefined)(`a message that ends the code, ${title}`, () => {
  const server = useServer()

  it('the pages show it as given up with the reason, until a replay to corrected code succeeds', async () => {
    const poison = `if (text === 'exit') process.exit(3)`
    const { bot, webhookId, redeploy } = await deployBot(server(), echo(poison))
    const talk = await talkTo(server(), webhookId)
    await talk.say('exit')
    await withoutPauses(server)(async () => {
      const failed = await server().client().listDeliveries({ id: bot.id, status: 'failed' })
      expect(failed.deliveries).toHaveLength(1)
    })
    // The state of the workspace may be some seconds old.
    server().clock.advance(60_000)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('home', bot.id)
    await page.getByRole('heading', { name: /The last \d calls of the bot failed\./ }).waitFor()
    const health = page.getByRole('region', { name: 'Bots' })
    await health.getByRole('link', { name: '1 delivery of the last day failed.' }).waitFor()
    const errors = page.getByRole('region', { name: 'Errors of the last day' })
    await errors.getByText(reason).first().waitFor()

    await open('deliveries', bot.id)
    await page.getByRole('link', { name: 'Failed 1' }).click()
    await page.getByRole('cell', { name: reason }).waitFor()
    await page.getByRole('row').getByRole('link', { name: 'message_created' }).click()
    await page.getByRole('definition').getByText(reason).waitFor()
    await expectAccessible()

    await open(`conversations/${talk.conversationId}`, bot.id)
    await page.getByRole('button', { name: /^Not delivered to the bot after/ }).waitFor()
    await page.getByText(reason).waitFor()
    await expectAccessible()
    await redeploy(echo(''))
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('button', { name: /^Delivered to the bot/ }).waitFor()
    await page.getByLabel('Transcript').getByText('exit!').waitFor()
    expect(await page.getByText(reason).count()).toBe(0)

    await open('deliveries', bot.id)
    await page.getByRole('row').getByText('Delivered').first().waitFor()
    expect(await page.getByRole('link', { name: /^Failed [1-9]/ }).count()).toBe(0)
    server().clock.advance(60_000)
    await open('home', bot.id)
    await page.getByRole('heading', { name: 'Everything works.' }).waitFor()
    expect(faults).toEqual([])
  })
})
