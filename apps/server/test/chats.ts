import type { BotActor, Caller, ChatUserActor } from '../src/domain/actor.js'
import { createChat } from '../src/features/chat/index.js'
import type { MessageStreamInput } from '../src/features/chat/message-streams.js'
import type { EventBus } from '../src/platform/bus/event-bus.js'
import type { Database } from '../src/platform/db/open.js'
import type { Tx } from '../src/platform/db/schema.js'
import { createTenants, maxPayloadBytes } from './tenants.js'

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
  options: Parameters<typeof createTenants>[1] & { bus?: EventBus; listenersPerUser?: number } = {},
) {
  const tenants = await createTenants(database, options)
  const { runtime } = tenants
  const users = runtime.users.service
  const conversations = runtime.conversations.service
  const messages = runtime.messages.service
  const chat = createChat({
    ...tenants,
    users,
    conversations,
    messages,
    botEvents: runtime.events.service,
    audiences: tenants.audiences,
    maxPayloadBytes,
    version: '0.0.0',
    limits: { perUser: options.listenersPerUser ?? 50, perProcess: 1000, pendingBytes: 65_536 },
    sharedSecret: Buffer.from('the secret of all addresses'),
  })

  const { service, authenticator, streams, actions } = chat
  if (chat.on) tenants.domainEvents.subscribe(chat.on)

  /** What the server knows of the holder of a key. */
  const holderOf = async (webhookId: string, key: string): Promise<ChatUserActor> =>
    await authenticator.chatUser(webhookId, key)

  return {
    ...tenants,
    users,
    conversations,
    messages,
    chat: service,
    streams,
    /** As a bot does by the action of this name. */
    publishMessageStream: async (botId: string, input: MessageStreamInput) =>
      await actions?.publishMessageStream?.(botId, { ...input }),
    describeSignal: chat.describeSignal,
    sweepStreams: async (tx: Tx) => (await chat.sweeps?.[0]?.(tx)) ?? 0,
    authenticator,
    /** Has what is remembered of a bot forgotten, as by a change. */
    forgetBot: async (botId: string) =>
      await tenants.run((tx) => tenants.domainEvents.raise(tx, 'bot.changed', { botId })),
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
      const audience = await messages.audienceOf(botId)
      await tenants.run(async (tx) => {
        const row = await tx
          .updateTable('conversations')
          .set((eb) => ({ last_sequence: eb('last_sequence', '+', 1) }))
          .where('id', '=', conversationId)
          .returning(['id', 'foreign_id', 'integration', 'last_sequence', 'last_message_at'])
          .executeTakeFirstOrThrow()
        const place = { ...row, last_message_at: tenants.clock.now() }
        const payload = messages.encode({ text: 'Hello', metadata: { streamId } })
        const message = { botId, userId: botId, direction: 'outgoing', type: 'text' } as const
        await messages.append(tx, place, { ...message, payload }, audience)
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
  const caller: Caller = { type: 'integration', id: `id-of-${alias}`, name: alias, alias }
  return { ...actor, caller }
}

export function text(words: string): { type: 'text'; text: string } {
  return { type: 'text', text: words }
}
