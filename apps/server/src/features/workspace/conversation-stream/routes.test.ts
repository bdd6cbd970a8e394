import { readEventStream } from '@botstead/contract'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { expectRefusal } from '../../../../test/request.js'

interface Signal {
  id: string | undefined
  type: string
  data: { payload?: { text: string } }
}

describeSlow('the stream of a conversation', (engine) => {
  const server = useServer(engine)

  async function converse() {
    const { bot } = await server().client().createBot({})
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({ name: 'Ann' })
    const chat = server().client({ webhookId, userKey })
    const { id } = (await chat.chatCreateConversation({})).conversation
    const say = async (text: string) => {
      await chat.chatCreateMessage({ conversationId: id, payload: { type: 'text', text } })
    }
    return { id, botId: bot.id, chat, say }
  }

  function request(id: string, headers: Record<string, string> = {}) {
    return server().fetch(`/v1/admin/conversations/${id}/stream`, {
      headers: {
        authorization: `Bearer ${server().token}`,
        'x-workspace-id': server().workspaceId,
        ...headers,
      },
    })
  }

  /** Opens the stream behind an event. */
  async function follow(id: string, after?: string, headers: Record<string, string> = {}) {
    const response = await request(id, {
      ...headers,
      ...(after !== undefined && { 'last-event-id': after }),
    })
    expect(response.status).toBe(200)
    const events = readEventStream(response.body ?? new ReadableStream())
    return {
      /** The next signal; undefined at the end of the stream. */
      async next(): Promise<Signal | undefined> {
        for (;;) {
          const { value, done } = await events.next()
          if (done || value === undefined) return undefined
          if (value.data.startsWith('{')) return { id: value.id, ...JSON.parse(value.data) }
        }
      },
      close: () => events.return(undefined),
    }
  }

  it('has each message once and in order, however often it is opened again', async () => {
    const rounds = fc.array(
      fc.record({ missed: fc.nat({ max: 3 }), live: fc.nat({ max: 3 }), read: fc.nat({ max: 8 }) }),
      { minLength: 1, maxLength: 6 },
    )
    await fc.assert(
      fc.asyncProperty(rounds, async (plan) => {
        const { id, say } = await converse()
        const said: string[] = []
        const heard: (string | undefined)[] = []
        let after = '0'
        const sayNext = async () => {
          const text = `message ${said.length}`
          said.push(text)
          await say(text)
        }
        const hear = async (stream: Awaited<ReturnType<typeof follow>>) => {
          const signal = await stream.next()
          after = signal?.id ?? after
          if (signal?.type === 'message_created') heard.push(signal.data.payload?.text)
        }
        for (const { missed, live, read } of plan) {
          for (let at = 0; at < missed; at++) await sayNext()
          const stream = await follow(id, after)
          for (let at = 0; at < live; at++) await sayNext()
          // The rest is left for the next round.
          const least = Math.min(said.length, heard.length + read)
          while (heard.length < least) await hear(stream)
          await stream.close()
        }
        const last = await follow(id, after)
        while (heard.length < said.length) await hear(last)
        await sayNext()
        while (heard.length < said.length) await hear(last)
        await last.close()
        expect(heard).toEqual(said)
      }),
      { numRuns: 15 },
    )
  })

  it('ends with the conversation, and says so when it is opened again', async () => {
    const { id, chat } = await converse()
    const stream = await follow(id)
    await chat.chatDeleteConversation({ id })
    while ((await stream.next()) !== undefined);
    await expectRefusal(await request(id), { status: 404, type: 'ResourceNotFound', message: /./ })
  })

  it('ends when the caller may no longer read it', async () => {
    const { id } = await converse()
    const admin = server().client()
    const { pat } = await admin.createPersonalAccessToken({ note: 'for a while' })
    const headers = { authorization: `Bearer ${pat.value}` }
    const stream = await follow(id, undefined, headers)
    await admin.deletePersonalAccessToken({ id: pat.id })
    let isOver = false
    const ended = (async () => {
      while ((await stream.next()) !== undefined);
      isOver = true
    })()
    await vi.waitFor(() => {
      server().clock.advance(1000)
      expect(isOver).toBe(true)
    })
    await ended
    await expectRefusal(await request(id, headers), {
      status: 401,
      type: 'Unauthorized',
      message: /./,
    })
  })

  it('tells a client whose place is gone to read the timeline again', async () => {
    const { id, say } = await converse()
    await say('one')
    const stream = await follow(id, '1000')
    expect(await stream.next()).toMatchObject({ type: 'reset' })
    await say('two')
    expect(await stream.next()).toMatchObject({ data: { payload: { text: 'two' } } })
    await stream.close()
  })
})
