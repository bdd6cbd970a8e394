import type { Client } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { type ReceivedMessage, startBot } from '../bot-server.js'
import { useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { runCommand } from '../processes.js'
import { openTunnel, untilAllAreGone } from '../tunnel-tool.js'

/** Shows a piece of a message before the message is complete. */
async function publishPiece(
  client: Client,
  conversationId: string,
  piece: { streamId: string; delta: string; sequence?: number },
): Promise<void> {
  const createdAt = new Date().toISOString()
  const signal = { type: 'delta', createdAt, sequence: 1, ...piece }
  const input = { conversationId, signal }
  await client.callAction({ type: 'chat:publishMessageStream', input })
}

describe('botstead chat', () => {
  const server = useServer()
  const https = useHttpBots()

  /** A bot with a server; the messages that it received, and the options that name it. */
  async function makeBot(reply: (message: ReceivedMessage) => Record<string, unknown>[]) {
    const { bot } = await server().client().createBot({ name: 'Waiter' })
    const client = server().client({ botId: bot.id })
    const heard: unknown[] = []
    const url = await startBot(async ({ conversationId, payload }) => {
      heard.push(payload.text)
      const replies = reply({ conversationId, payload })
      // Half a second after a message the reply counts as complete, unless there are pieces of another one.
      const pieces = replies.length > 1 ? replies : []
      for (const [at, { text }] of pieces.entries()) {
        await publishPiece(client, conversationId, { streamId: `${at}`, delta: String(text) })
      }
      for (const [at, { type, ...rest }] of replies.entries()) {
        const metadata = { streamId: `${at}` }
        await client.createMessage({
          conversationId,
          userId: bot.id,
          type: String(type),
          payload: pieces.length > 0 ? { ...rest, metadata } : rest,
          tags: {},
        })
      }
    })
    await server().client().updateBot({ id: bot.id, url })
    return { bot, heard, client }
  }

  /** The commands that are named when an answer is missing. */
  const moreAbout = (botId: string) =>
    [
      `  What the bot printed, and its errors:  npx botstead logs --bot ${botId}`,
      `  What it was sent, and its responses:   npx botstead deliveries list --bot ${botId}`,
      '',
    ].join('\n')

  const chat = (input: string, words: string[], environment: Record<string, string> = {}) =>
    runCommand(
      ['chat', '--timeout', '100', ...words],
      { BOTSTEAD_URL: server().url, BOTSTEAD_TOKEN: server().token, ...environment },
      input,
    )

  it('sends each line after the reply to the previous one, and a number as the option that it selects', async () => {
    const { heard, bot } = await makeBot(({ payload }) =>
      payload.text === 'Hello'
        ? [
            { type: 'text', text: 'Welcome.\u001b[2J' },
            {
              type: 'choice',
              text: 'Tea or coffee?',
              options: [
                { label: 'Tea', value: 'tea' },
                { label: 'Coffee', value: 'coffee, please' },
              ],
            },
          ]
        : [{ type: 'image', imageUrl: 'https://example.com/cup.png', title: 'Your cup' }],
    )
    const { status, stdout, stderr } = await chat('Hello\n\n2\n/quit\nnever sent\n', [
      '--bot',
      bot.id,
    ])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(heard).toEqual(['Hello', 'coffee, please'])
    expect(stdout).toBe(
      [
        'Waiter: Welcome.[2J',
        'Waiter: Tea or coffee?',
        '    1. Tea',
        '    2. Coffee',
        'Waiter: [image] Your cup https://example.com/cup.png',
        '',
      ].join('\n'),
    )
  })

  it('indents the further lines of a message, so that none passes for what somebody else said', async () => {
    const { bot } = await makeBot(() => [
      { type: 'text', text: 'Sure.\nyou: send it\n\nWaiter: it is sent\r\nNo answer.' },
    ])
    const { status, stdout } = await chat('Hello', ['--bot', bot.id])
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'Waiter: Sure.\n  you: send it\n  \n  Waiter: it is sent\n  No answer.\n',
    })
  })

  it('shows a message that the bot writes piece by piece, once', async () => {
    const { bot } = await server().client().createBot({ name: 'Writer' })
    const client = server().client({ botId: bot.id })
    const url = await startBot(async ({ conversationId }) => {
      for (const [at, delta] of ['One ', 'two ', 'three'].entries()) {
        await publishPiece(client, conversationId, { streamId: 's', delta, sequence: at + 1 })
      }
      await client.createMessage({
        conversationId,
        userId: bot.id,
        type: 'text',
        payload: { text: 'One two three', metadata: { streamId: 's' } },
        tags: {},
      })
    })
    await server().client().updateBot({ id: bot.id, url })
    const { status, stdout } = await chat('Count', ['--bot', bot.id])
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Writer: One two three\n' })
  })

  it('reports a missing reply, and to which bot', async () => {
    const { bot } = await makeBot(() => [])
    const silent = await chat('Hello', ['--bot', bot.id, '--timeout', '0.3'])
    expect(silent).toMatchObject({ status: 1, stdout: '' })
    expect(silent.stderr).toBe(`No answer within 0.3 s.\n${moreAbout(bot.id)}`)
    // Whoever knows only an address has nothing to name the bot by.
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const address = ['--address', `${server().url}/chat/${webhookId}`]
    const unnamed = await chat('Hello', [...address, '--timeout', '0.3'])
    expect(unnamed).toMatchObject({ status: 1, stderr: 'No answer within 0.3 s.\n' })
    // Of a bot in development that nobody runs, the server knows more.
    using tool = await openTunnel(server())
    const dev = await server().client().createBot({ name: 'Absent', dev: true, url: tool.url })
    tool.socket.terminate()
    await untilAllAreGone(server())
    server().clock.advance(60_000)
    const absent = await chat('Hello', ['--bot', dev.bot.id, '--timeout', '3'])
    expect(absent).toMatchObject({ status: 1, stdout: '' })
    expect(absent.stderr).toMatch(/^No answer within 3 s\. The.* development tunnel .*bp dev .*\n/)
    expect(absent.stderr.endsWith(moreAbout(dev.bot.id))).toBe(true)
    await makeBot(() => [])
    const which = await chat('', [])
    expect(which.status).toBe(1)
    expect(which.stderr).toContain('Which bot?')
  })

  it('ends at once, with the error of a bot that refused', async () => {
    const { url } = https.as('refusing')
    const { bot } = await server().client().createBot({ name: 'Refusing', url })
    const begun = performance.now()
    // The limit of a test is below that of the command.
    const refused = await chat('Order\n', ['--bot', bot.id, '--timeout', '300'])
    expect(performance.now() - begun).toBeLessThan(100_000)
    expect(refused).toMatchObject({ status: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^No answer\. .*I do not want this\.\n/)
    expect(refused.stderr.endsWith(moreAbout(bot.id))).toBe(true)
  })

  it('ends at once, with the reason of the overview, if the bot is not called', async () => {
    const { bot } = await server().client().createBot({ name: 'Alone' })
    const seen = async () => {
      server().clock.advance(5000)
      const { bots } = await server().client().getOverview()
      return bots.find(({ id }) => id === bot.id)?.reasons[0]
    }
    const words = ['--bot', bot.id, '--timeout', '300']
    const alone = await chat('Hello\nIs there anybody?\n', words)
    expect(alone).toMatchObject({ status: 1, stdout: '' })
    expect(alone.stderr).toMatch(/^No answer\. .*no address.* Set its url to .*\n$/)
    expect(alone.stderr).not.toContain('deliveries list')
    expect(await seen()).toMatchObject({ kind: 'no_address' })
    await server().client().updateBot({ id: bot.id, blocked: true })
    const { message, action } = (await seen()) ?? {}
    const blocked = await chat('Hello', words)
    expect(blocked.stderr).toBe(`No answer. ${message} ${action}\n`)
  })

  it('says that the bot was deleted while somebody talks to it', async () => {
    const { bot } = await server().client().createBot({ name: 'Short-lived' })
    const url = await startBot(async () => {
      await server().client().deleteBot({ id: bot.id })
    })
    await server().client().updateBot({ id: bot.id, url })
    const talk = await chat('Hello', ['--bot', bot.id, '--timeout', '10'])
    expect(talk).toMatchObject({ status: 1, stdout: '' })
    expect(talk.stderr).toContain(
      'The chat ended: the bot, its chat or the conversation was deleted.',
    )
  })

  it('prints a streamed message once, also if its pieces are not the whole of it', async () => {
    const { bot } = await server().client().createBot({ name: 'Writer' })
    const client = server().client({ botId: bot.id })
    const url = await startBot(async ({ conversationId }) => {
      await publishPiece(client, conversationId, { streamId: 's', delta: 'One two' })
      await client.createMessage({
        conversationId,
        userId: bot.id,
        type: 'text',
        payload: { text: 'One, two.', metadata: { streamId: 's' } },
        tags: {},
      })
    })
    await server().client().updateBot({ id: bot.id, url })
    const { status, stdout } = await chat('Count', ['--bot', bot.id])
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Writer: One, two.\n' })
  })

  it('continues a conversation at an address, without a token', async () => {
    const { bot } = await makeBot(({ payload }) => [{ type: 'text', text: `${payload.text}?` }])
    const [installation] = Object.values(bot.integrations)
    const webhookId = installation?.webhookId ?? ''
    const { user, key } = await server().client({ webhookId }).chatCreateUser({})
    const mine = server().client({ webhookId, userKey: key })
    const { conversation } = await mine.chatCreateConversation({})
    const address = `${server().url}/chat/${webhookId}/`
    const words = ['--address', address, '--user-key', key, '--conversation', conversation.id]
    const { status, stdout } = await chat('Really', words, { BOTSTEAD_TOKEN: '' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'bot: Really?\n' })
    const { messages } = await mine.chatListMessages({ conversationId: conversation.id })
    expect(messages.map(({ userId }) => userId)).toEqual([bot.id, user.id])
    const wrong = await chat('Hello', ['--address', address, '--user-key', 'no key'])
    expect(wrong.status).toBe(1)
    expect(wrong.stderr).toMatch(/user key/i)
  })
})
