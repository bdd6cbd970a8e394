import { beforeAll, describe, expect, it } from 'vitest'
import { type Chats, createChats, type TestBot, text } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { MemorySink } from '../../../../test/listening/memory-sink.js'
import { ManualTime } from '../../../../test/manual-time.js'
import { type WatchedWork, watchWork } from '../../../../test/work.js'
import type { ChatUserActor } from '../../../domain/actor.js'

describeEachEngine('listening', (engine) => {
  const database = useDatabase(engine)
  let time: ManualTime
  let work: WatchedWork
  let chats: Chats
  let bot: TestBot
  let ada: ChatUserActor
  let conversation: string

  beforeAll(async () => {
    time = new ManualTime()
    work = watchWork(database())
    chats = await startProcess()
    bot = await chats.bot()
    ada = await chats.user(bot)
  })

  const startProcess = () =>
    createChats(
      { ...database(), run: work.run },
      {
        clock: time,
        timers: time,
        environment: { BOTSTEAD_MAX_LISTENERS_PER_USER: '6' },
      },
    )
  const settle = () => work.rest()

  async function enter(): Promise<void> {
    conversation = (await chats.chat.createConversation(ada, {}, undefined)).id
  }

  async function listen(actor = ada, after?: number): Promise<MemorySink> {
    const sink = new MemorySink()
    const start = await chats.chat.listen(actor, conversation, after)
    start(sink)
    await settle()
    return sink
  }

  const say = (words: string, actor = ada) =>
    chats.chat.createMessage(
      actor,
      { conversationId: conversation, payload: text(words) },
      undefined,
    )
  const typesOf = (sink: MemorySink) => sink.heard.map(({ type }) => type)

  it('begins with events of the last half second', async () => {
    await enter()
    await say('old')
    time.advance(600)
    await say('new')
    time.advance(400)
    const first = await listen()
    const second = await listen()
    for (const sink of [first, second]) {
      expect(sink.heard.map(({ data }) => data.payload)).toEqual([text('new')])
      sink.close()
    }
  })

  it('begins with what has happened since it subscribed, however late it joins', async () => {
    await enter()
    const start = await chats.chat.listen(ada, conversation, undefined)
    await say('new')
    time.advance(3000)
    const sink = new MemorySink()
    start(sink)
    await settle()
    expect(typesOf(sink)).toEqual(['message_created'])
    sink.close()
  })

  it('pings only listeners that got nothing for half a minute', async () => {
    await enter()
    const quiet = await listen()
    time.advance(29_000)
    expect(quiet.pings).toBe(0)
    await say('x')
    time.advance(29_000)
    expect(quiet.pings).toBe(0)
    time.advance(3000)
    expect(quiet.pings).toBe(1)
    time.advance(31_000)
    expect(quiet.pings).toBe(2)
    quiet.close()
  })

  it('reads each event once for all listeners', async () => {
    await enter()
    const grace = await chats.user(bot)
    await chats.chat.addParticipant(ada, conversation, grace.userKeyId)
    const sinks = await Promise.all([ada, ada, ada, grace, grace].map((actor) => listen(actor)))
    await say('x')
    const frames = sinks.map(({ heard }) => heard.at(-1))
    expect(new Set(frames.map((frame) => JSON.stringify(frame))).size).toBe(1)
    expect(frames[0]).toMatchObject({ type: 'message_created' })
    for (const sink of sinks) sink.close()
  })

  it('disconnects a listener that does not read, without delaying the others', async () => {
    await enter()
    const [slow, quick] = [await listen(), await listen()]
    slow.pending = 100_000
    await say('x')
    expect(slow.ended).toBe('cut')
    expect(quick.heard).toHaveLength(1)
    await say('y')
    // It reconnects with its last number.
    const again = await listen(ada, 0)
    expect(again.heard.map(({ sequence }) => sequence)).toEqual([1, 2])
    for (const sink of [quick, again]) sink.close()
  })

  it('ends for a removed user without the event of the removal, which the others get', async () => {
    await enter()
    const grace = await chats.user(bot)
    await chats.chat.addParticipant(ada, conversation, grace.userKeyId)
    const [hers, own] = [await listen(grace), await listen()]
    const path = { webhookId: bot.webhookId, conversationId: conversation, userId: grace.userKeyId }
    await chats.chat.removeParticipant(ada, path)
    expect(hers.ended).toBe('end')
    expect(typesOf(hers)).not.toContain('participant_removed')
    expect(own.heard.at(-1)).toMatchObject({
      type: 'participant_removed',
      data: { conversationId: conversation, participantId: grace.userKeyId },
    })
    await expect(listen(grace)).rejects.toMatchObject({ type: 'Forbidden' })
    own.close()
  })

  it('ends for a deleted user, whatever number it claims to have', async () => {
    await enter()
    const grace = await chats.user(bot)
    await chats.chat.addParticipant(ada, conversation, grace.userKeyId)
    const [hers, own] = [await listen(grace), await listen()]
    const late = new MemorySink()
    const start = await chats.chat.listen(grace, conversation, 1)
    await chats.chat.deleteUser(grace)
    await settle()
    start(late)
    await settle()
    expect([hers.ended, late.ended, own.ended]).toEqual(['end', 'end', undefined])
    own.close()
  })

  it('ends for a user who was removed during the subscription, whatever number it claims to have', async () => {
    await enter()
    const grace = await chats.user(bot)
    await chats.chat.addParticipant(ada, conversation, grace.userKeyId)
    const own = await listen()
    const start = await chats.chat.listen(grace, conversation, 2)
    const path = { webhookId: bot.webhookId, conversationId: conversation, userId: grace.userKeyId }
    await chats.chat.removeParticipant(ada, path)
    const sink = new MemorySink()
    start(sink)
    await settle()
    await say('secret')
    await settle()
    expect([sink.ended, sink.heard]).toEqual(['end', []])
    own.close()
  })

  it('ends when the conversation is deleted', async () => {
    await enter()
    const sink = await listen()
    await chats.chat.deleteConversation(ada, conversation)
    await settle()
    expect(sink.ended).toBe('end')
    await expect(listen()).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('ends when the key of the chat changes', async () => {
    const own = await chats.bot()
    const actor = await chats.user(own)
    const { id } = await chats.chat.createConversation(actor, {}, undefined)
    const sink = new MemorySink()
    const start = await chats.chat.listen(actor, id, undefined)
    start(sink)
    await settle()
    const workspace = { ...(await chats.person()).workspace, workspaceId: own.actor.workspaceId }
    const configuration = { encryptionKey: 'another' }
    await chats.bots.update(workspace, own.actor.botId, {
      integrations: { chat: { configuration } },
    })
    await chats.forgetBot(own.actor.botId)
    await settle()
    expect(sink.ended).toBe('end')
  })

  it('ends when the key of the user has expired', async () => {
    await enter()
    const sink = await listen({ ...ada, keyExpiresAt: time.now() + 90_000 })
    time.advance(60_000)
    await settle()
    expect(sink.ended).toBeUndefined()
    time.advance(60_000)
    await settle()
    expect(sink.ended).toBe('end')
  })

  it('ends when the server stops, which then refuses new listeners', async () => {
    const stopping = await startProcess()
    await enter()
    const sink = new MemorySink()
    const start = await stopping.chat.listen(ada, conversation, undefined)
    start(sink)
    await settle()
    stopping.streams.stop()
    expect(sink.ended).toBe('end')
    await expect(stopping.chat.listen(ada, conversation, undefined)).rejects.toMatchObject({
      type: 'Internal',
      status: 503,
    })
  })

  it('sends a reset when the log does not reach back, or never had the number', async () => {
    await enter()
    await say('x')
    const lost = await listen(ada, 17)
    expect(lost.heard).toEqual([
      { type: 'reset', data: { conversationId: conversation }, sequence: 1 },
    ])
    await database().run((tx) =>
      tx
        .deleteFrom('events')
        .where('stream', '=', conversation)
        .where('sequence', '=', 1)
        .execute(),
    )
    await say('y')
    time.advance(12_000)
    const late = await listen(ada, 0)
    expect(late.heard[0]).toMatchObject({ type: 'reset', sequence: 2 })
    await say('z')
    expect(late.heard.at(-1)).toMatchObject({ type: 'message_created', sequence: 3 })
    for (const sink of [lost, late]) sink.close()
  })

  it('limits the listeners of a user', async () => {
    await enter()
    const sinks = await Promise.all(Array.from({ length: 6 }, () => listen()))
    await expect(listen()).rejects.toMatchObject({ type: 'RateLimited' })
    sinks[0]?.close()
    sinks.push(await listen())
    for (const sink of sinks) sink.close()
  })

  describe('to a message that a bot is writing', () => {
    const piece = (sequence: number, delta: string) =>
      chats.publishMessageStream(bot.actor.botId, {
        conversationId: conversation,
        signal: {
          type: 'delta',
          streamId: 's-1',
          createdAt: '2026-03-01T12:00:04.900Z',
          sequence,
          delta,
        },
      })

    it('sends each piece to listeners, and the text so far to late ones', async () => {
      await enter()
      const early = await listen()
      await piece(1, 'Hel')
      await piece(2, 'lo')
      await settle()
      const late = await listen()
      expect(early.heard.map(({ data }) => [data.sequence, data.delta])).toEqual([
        [1, 'Hel'],
        [2, 'lo'],
      ])
      expect(late.heard).toEqual([
        {
          type: 'message_stream_delta',
          data: {
            streamId: 's-1',
            conversationId: conversation,
            userId: bot.actor.botId,
            createdAt: '2026-03-01T12:00:04.900Z',
            sequence: 2,
            delta: 'Hello',
          },
          sequence: undefined,
        },
      ])
      await piece(3, ' wor')
      await settle()
      expect(late.heard.at(-1)).toMatchObject({ data: { sequence: 3, delta: ' wor' } })
      for (const sink of [early, late]) sink.close()
      // Another process, or this one after a restart, reads it from the log.
      const other = await startProcess()
      const sink = new MemorySink()
      const start = await other.chat.listen(ada, conversation, undefined)
      start(sink)
      await settle()
      expect(sink.heard.map(({ data }) => data.delta)).toEqual(['Hello wor'])
      // There was no piece for ten minutes.
      time.advance(10 * 60_000)
      const newcomer = await listen()
      expect(newcomer.heard).toEqual([])
      for (const each of [sink, newcomer]) each.close()
    })

    it('signals that the stream is complete, then the message', async () => {
      await enter()
      await piece(1, 'Hello')
      await chats.completeMessage(bot, conversation, 's-1')
      await settle()
      const sink = await listen(ada, 1)
      expect(typesOf(sink)).toEqual(['message_stream_complete', 'message_created'])
      expect(sink.heard.map(({ sequence }) => sequence)).toEqual([undefined, 2])
      expect(sink.heard[0]?.data).toMatchObject({
        streamId: 's-1',
        message: { metadata: { streamId: 's-1' } },
      })
      expect(sink.heard[1]?.data).toMatchObject({ isBot: true })
      sink.close()
      time.advance(3000)
      const late = await listen()
      expect(late.heard).toEqual([])
      late.close()
    })

    it('signals that it was abandoned, and drops it', async () => {
      await enter()
      const sink = await listen()
      await piece(1, 'Hello')
      await chats.publishMessageStream(bot.actor.botId, {
        conversationId: conversation,
        signal: { type: 'abort', streamId: 's-1' },
      })
      await settle()
      expect(sink.heard.at(-1)).toEqual({
        type: 'message_stream_abort',
        data: { streamId: 's-1', conversationId: conversation },
        sequence: 2,
      })
      time.advance(3000)
      const late = await listen()
      expect(late.heard).toEqual([])
      // The pieces are emptied later, and the numbers stay without a gap.
      time.advance(11 * 60 * 1000)
      expect(await chats.run((tx) => chats.sweepStreams(tx))).toBeGreaterThan(0)
      const again = await listen(ada, 0)
      expect(again.heard.map(({ sequence, type }) => [sequence, type])).toEqual([
        [2, 'message_stream_abort'],
      ])
      for (const one of [sink, late, again]) one.close()
    })

    it.each([
      [{ type: 'delta', streamId: '', createdAt: 'x', sequence: 1, delta: 'x' }, 'streamId'],
      [{ type: 'delta', streamId: 's', createdAt: 'x', sequence: '1', delta: 'x' }, 'sequence'],
      [{ type: 'delta', streamId: 's', createdAt: 'x', sequence: 1, delta: 7 }, 'delta'],
      [{ type: 'end', streamId: 's' }, 'type'],
    ])('refuses %j', async (signal, field) => {
      await enter()
      const input = { conversationId: conversation, signal } as Parameters<
        Chats['publishMessageStream']
      >[1]
      await expect(chats.publishMessageStream(bot.actor.botId, input)).rejects.toMatchObject({
        type: 'InvalidPayload',
        message: expect.stringContaining(field),
      })
    })

    it('refuses more text than a message may have, and unknown conversations', async () => {
      await enter()
      await piece(1, 'x'.repeat(1500))
      await expect(piece(2, 'x'.repeat(600))).rejects.toMatchObject({ type: 'LimitExceeded' })
      conversation = 'conv_nobody'
      await expect(piece(1, 'x')).rejects.toMatchObject({ type: 'ResourceNotFound' })
    })
  })
})
