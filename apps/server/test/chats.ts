import type { BotActor, Caller, ChatUserActor } from '../src/domain/actor.js'
import type { MessageStreamInput } from '../src/features/chat/message-streams.js'
import { createSubjectRetention } from '../src/features/deliveries/index.js'
import type { Database } from '../src/platform/db/open.js'
import type { Tx } from '../src/platform/db/schema.js'
import { createSlices, maxPayloadBytes } from './slices.js'

/** A bot with the address of its chat. */
export interface TestBot {
  /** The bot as a caller of its own runtime operations. */
  actor: BotActor
  webhookId: string
}

/**
 * The slices of conversations, joined as in the product, on one process's view of a database: two of
 * them on the same database are two processes.
 */
export async function createChats(
  database: Database,
  options: Parameters<typeof createSlices>[1] = {},
) {
  const tenants = await createSlices(database, options)
  const { slices, run, domainEvents } = tenants
  const { chat } = slices
  const { service, authenticator, streams } = chat
  const users = slices.users.service
  const conversations = slices.conversations.service
  const messages = slices.messages.service

  /** The holder of a key, as the server sees it. */
  const holderOf = async (webhookId: string, key: string): Promise<ChatUserActor> =>
    await authenticator.chatUser(webhookId, key)

  /** One round of the retention of events and object changes; returns how many rows were deleted. */
  async function sweepSubjects(tx: Tx): Promise<number> {
    const { clock, config } = tenants
    const { events, changes } = slices
    let deleted = 0
    for (const sweep of createSubjectRetention({
      clock,
      retentionMs: config.deliveryRetentionMs,
      events: events.service,
      changes,
    })) {
      deleted += await sweep(tx)
    }
    return deleted
  }

  return {
    ...tenants,
    sweepSubjects,
    users,
    conversations,
    messages,
    events: slices.events.service,
    chat: service,
    streams,
    /** Publishes as a bot does by the action of this name. */
    publishMessageStream: async (botId: string, input: MessageStreamInput) =>
      await chat.actions?.publishMessageStream?.(botId, { ...input }),
    describeSignal: chat.describeSignal,
    sweepStreams: async (tx: Tx) => (await chat.sweeps?.[0]?.(tx)) ?? 0,
    authenticator,
    /** Clears the caches of a bot, as a change does. */
    forgetBot: async (botId: string) =>
      await run((tx) => domainEvents.raise(tx, 'bot.changed', { botId })),
    maxPayloadBytes,
    holderOf,

    /** @param configuration of the chat of the new bot */
    async bot(configuration: Record<string, unknown> = {}): Promise<TestBot> {
      const { workspace } = await tenants.person()
      const { bot, installations } = await tenants.bots.create(workspace, {}, undefined)
      await tenants.bots.update(workspace, bot.id, { integrations: { chat: { configuration } } })
      return {
        actor: {
          kind: 'bot',
          workspaceId: workspace.workspaceId,
          botId: bot.id,
          tokenId: 'none',
          caller: { type: 'bot' },
        },
        webhookId: installations[0]?.webhook_id ?? '',
      }
    },

    /** The bot completes the message that it was writing. */
    async completeMessage({ actor }: TestBot, conversationId: string, streamId: string) {
      const { botId } = actor
      const profile = await messages.profileOf(botId)
      await tenants.run(async (tx) => {
        const row = await tx
          .updateTable('conversations')
          .set((eb) => ({ last_sequence: eb('last_sequence', '+', 1) }))
          .where('id', '=', conversationId)
          .returning(['id', 'foreign_id', 'integration', 'last_sequence', 'last_message_at'])
          .executeTakeFirstOrThrow()
        const place = { ...row, last_message_at: tenants.clock.now() }
        const payload = JSON.stringify({ text: 'Hello', metadata: { streamId } })
        const message = { botId, userId: botId, direction: 'outgoing', type: 'text' } as const
        await messages.append(tx, place, { ...message, payload }, profile)
      })
    },

    /** A new user of a chat that has no encryption key. */
    async user({ webhookId }: TestBot, id?: string): Promise<ChatUserActor> {
      const actor = await authenticator.chat(webhookId, '127.0.0.1')
      const { key } = await service.createUser(actor, id === undefined ? {} : { id })
      return await holderOf(webhookId, key)
    },
  }
}

export type Chats = Awaited<ReturnType<typeof createChats>>

/** The same bot, called by one of its integrations. */
export function asIntegration(actor: BotActor, alias: string): BotActor {
  const caller: Caller = {
    type: 'integration',
    id: `id-of-${alias}`,
    name: alias,
    alias,
    authority: 'key',
  }
  return { ...actor, caller }
}

export function text(words: string): { type: 'text'; text: string } {
  return { type: 'text', text: words }
}
