import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { existingClient, makeBot, type ReachableServer } from './existing-clients.js'
import type { HttpBot } from './http-bot.js'
import { webchatAddress } from './webchats.js'
import { openWidget, type WidgetProps } from './widget.js'

interface Meeting {
  made?: Awaited<ReturnType<typeof makeBot>>
  user?: NonNullable<WidgetProps['user']>
  /** Address under which the page finds the server; that of the server if omitted. */
  url?: string
  /** A bot with an address, which is notified of what happens in the chat. */
  notified?: HttpBot
  /** Called with the page before it loads anything. */
  prepare?(page: Page): Promise<void>
}

/** A page with the official widget on another origin, and the bot at the other end. */
export async function meetInWidget(server: ReachableServer, meeting: Meeting = {}) {
  const { user, url = server.url, notified, prepare } = meeting
  const made = meeting.made ?? (await makeBot(server))
  const client = existingClient(server, { botId: made.bot.id })
  if (notified !== undefined) await made.admin.updateBot({ id: made.bot.id, url: notified.url })
  const { page, address } = await openWidget(
    {
      ...webchatAddress({ url }, made.webhookId, 'chat'),
      ...(user && { user }),
      configuration: {
        botName: 'Botty',
        allowFileUpload: true,
        feedbackEnabled: true,
        conversationHistory: true,
      },
    },
    prepare,
  )
  const faults: string[] = []
  const own = [new URL(server.url).host, new URL(url).host, new URL(address).host]
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && !own.includes(host)) faults.push(request.url())
  })
  // Before it is connected, the widget fails at files instead of waiting.
  await page.locator('textarea.bpComposerInput:enabled').waitFor()
  const conversationId = async () => (await client.listConversations({})).conversations[0]?.id ?? ''
  const events = async (type: string) => (await client.listEvents({ type })).events
  const bot = {
    id: made.bot.id,
    client,
    webhookId: made.webhookId,
    conversationId,
    events,
    say: async (type: string, payload: Record<string, unknown>) => {
      const author = { conversationId: await conversationId(), userId: made.bot.id }
      return (await client.createMessage({ ...author, tags: {}, type, payload })).message
    },
    call: (name: string, input: Record<string, unknown>) =>
      client.callAction({ type: `webchat:${name}`, input }),
    /** Payloads of the messages of users, oldest first. */
    received: async () =>
      (await client.listMessages({})).messages
        .filter(({ direction }) => direction === 'incoming')
        .map(({ payload }) => payload as Record<string, unknown>)
        .reverse(),
    feedback: async () =>
      (await events('chat:messageFeedback')).map(({ payload }) => Object(payload).value),
    /** Payloads of the events of a type that the address of the bot was called with, in this order. */
    notifiedOf: async (type: string): Promise<Record<string, unknown>[]> =>
      ((await notified?.calls()) ?? [])
        .map(({ body }) => JSON.parse(body).event)
        .filter((event) => event?.type === type)
        .map(({ payload }) => payload),
    /** Ids of the users who are not the bot. */
    visitors: async () =>
      (await client.listUsers({})).users.map(({ id }) => id).filter((id) => id !== made.bot.id),
  }
  return { page, address, bot, faults: () => faults }
}

export async function write(page: Page, text: string): Promise<void> {
  const composer = page.locator('textarea.bpComposerInput')
  await composer.fill(text)
  await sendComposed(page)
}

/** Sends what is in the composer. After a message, it takes the next one only a moment later. */
export async function sendComposed(page: Page): Promise<void> {
  const composer = page.locator('textarea.bpComposerInput')
  await vi.waitFor(async () => {
    await composer.press('Enter')
    expect(await composer.inputValue()).toBe('')
  })
}

/** Waits until the label below the last own message is shown; before, it is there and transparent. */
export async function delivered(page: Page): Promise<void> {
  await page.locator('.bpMessageDeliveryStatusLabel[aria-hidden="false"]').last().waitFor()
}

/** Texts of the messages that are shown, without the names of days between them. */
export const textsOf = (page: Page) =>
  page
    .locator(':is([data-direction=incoming], [data-direction=outgoing]) .bpMessageBlocksTextText')
    .allTextContents()

/** The stored state of the widget: the conversation and the user with its key. */
export async function storedState(page: Page, webhookId: string) {
  const text = await page.evaluate<string>(`localStorage['bp-webchat-${webhookId}-client']`)
  return JSON.parse(text).state as {
    conversationId: string
    user: { userId: string; userToken: string }
  }
}

/** Ends the conversation with the button of the widget, which asks before it does. */
export async function restart(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Restart Conversation Button' }).last().click()
  await page.locator('.bpModalButtonConfirm').click()
}

/** A picture. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
