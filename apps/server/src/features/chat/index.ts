import { ApiError, allOperations, createOpenApi } from '@botstead/contract'
import type { Authenticator } from '../../domain/authenticator.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import type { Timers } from '../../platform/clock.js'
import { purge } from '../../platform/db/purge.js'
import type { Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { EventDispatcher } from '../../platform/domain-events.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import type { Log } from '../../platform/telemetry/log.js'
import { gauge } from '../../platform/telemetry/metrics.js'
import type { BotsService } from '../bots/bots/index.js'
import { builtInChat } from '../bots/installations/index.js'
import type { Targets } from '../calls/targets/index.js'
import type { Deliveries } from '../deliveries/index.js'
import type { Feature, ServerAction } from '../feature.js'
import { createChatAccess } from './access.js'
import { createChatAddresses, createChatAuthenticator } from './addresses.js'
import { type MessageStreamInput, messageStreams } from './message-streams.js'
import { chatRoutes } from './routes.js'
import { type ChatService, type ChatServiceDeps, createChatService } from './service.js'
import { createSignalDeliveries } from './signal-deliveries.js'
import { createRender } from './signals.js'
import * as store from './stream-store.js'
import {
  announceRevokedUser,
  type ConversationStreams,
  type ConversationStreamsOptions,
  createConversationStreams,
} from './streams/index.js'
import { createUserKeys } from './user-keys.js'

export interface ChatDeps extends Omit<ChatServiceDeps, 'keys' | 'addresses' | 'streams'> {
  bots: Pick<BotsService, 'findChatInstallation' | 'findSignalPosting' | 'findSignalAddress'>
  bus: EventBus
  publisher: EventPublisher
  domainEvents: Pick<EventDispatcher, 'raise'>
  targets: Pick<Targets, 'provide'>
  deliveries: Pick<Deliveries, 'provideSignals'>
  log: Log
  timers: Timers
  sharedSecret: Uint8Array
  /** Milliseconds for which user keys of the server are valid; undefined forever. */
  userKeyLifetimeMs?: number | undefined
  limits: ConversationStreamsOptions['limits']
  /** Version of the program, for the description of the interface. */
  version: string
}

/** The chat interface: what web chats call at the chat address of one bot. */
export interface Chat extends Feature {
  service: ChatService
  /** Identifies callers at chat addresses. */
  authenticator: Pick<Authenticator, 'chat' | 'chatUser' | 'holderOf'>
  streams: ConversationStreams
  /** Builds a signal, by its position in the log of its conversation, for its delivery. */
  describeSignal(botId: string, position: string): Promise<string | undefined>
}

/**
 * Makes the chat interface. It provides `deliveries` with the bodies of signals, and `targets` with the
 * webhooks that receive them.
 */
export function createChat(deps: ChatDeps): Chat {
  const { bots, clock, sharedSecret, run } = deps
  const addresses = createChatAddresses({
    clock,
    findInstallation: (webhookId) => bots.findChatInstallation(webhookId),
  })
  const keys = createUserKeys({ clock, sharedSecret, lifetimeMs: deps.userKeyLifetimeMs })
  const render = createRender(deps)
  const writing = messageStreams({ ...deps, maxCharacters: deps.maxPayloadBytes })
  const streams = createConversationStreams({
    ...deps,
    render,
    firstOpenPiece: writing.firstOpenPiece,
  })
  const access = createChatAccess(deps)
  const service = createChatService({ ...deps, keys, addresses, streams }, access)
  const signals = createSignalDeliveries({ ...deps, render })
  deps.targets.provide(builtInChat.alias, signals.findTarget)
  deps.deliveries.provideSignals(signals.describe)

  /** Ends the open streams of a user who may no longer chat. */
  async function disconnect(tx: Tx, { userId }: { userId: string }): Promise<void> {
    afterCommit(tx, () => announceRevokedUser(deps.bus, userId))
  }

  return {
    name: 'chat',
    service,
    routes: chatRoutes(service, () => createOpenApi(chatOperations, { version: deps.version })),
    authenticator: createChatAuthenticator(addresses, keys, {
      db: deps.db,
      findUser: access.findUser,
    }),
    streams,
    describeSignal: signals.describe,
    actions: createChatActions({
      publishMessageStream: writing.publishMessageStream,
      sendEvent: service.sendEvent,
    }),
    on: {
      'user.removed': disconnect,
      'user.accessRevoked': disconnect,
      'bot.changed': async (tx, { botId }) =>
        afterCommit(tx, () => {
          addresses.forget(botId)
          streams.recheckBot(botId)
          signals.forgetBot(botId)
        }),
    },
    sweeps: [writing.sweep],
    metrics: [
      gauge(
        { name: 'botstead_chat_listeners', help: 'Open streams of chat users in this process.' },
        () => streams.count(),
      ),
    ],
    async purge(botId) {
      await purge(run, (tx, limit) => store.deleteSomeStreams(tx, botId, limit))
    },
    // Streams do not end by themselves, so a stopping server would wait for them.
    drain: streams.stop,
  }
}

const chatOperations = allOperations.filter(({ tag }) => tag === 'Chat')

type JsonMap = Record<string, unknown>

interface ChatActionsDeps {
  publishMessageStream(botId: string, input: MessageStreamInput): Promise<void>
  sendEvent(botId: string, input: { conversationId: string; payload: JsonMap }): Promise<unknown>
}

/** The actions of the built-in chat, by name. */
function createChatActions(chat: ChatActionsDeps): Readonly<Record<string, ServerAction>> {
  return {
    async publishMessageStream(botId, input) {
      // The content of the signal is validated where it is published.
      await chat.publishMessageStream(botId, {
        conversationId: requireConversation(input),
        signal: requireMap(input, 'signal') as MessageStreamInput['signal'],
      })
      return {}
    },

    async sendEvent(botId, input) {
      await chat.sendEvent(botId, {
        conversationId: requireConversation(input),
        payload: requireMap(input, 'payload'),
      })
      return {}
    },
  }
}

function requireConversation({ conversationId }: JsonMap): string {
  if (typeof conversationId === 'string' && /^.{1,200}$/s.test(conversationId)) {
    return conversationId
  }
  throw misshapen('conversationId', 'must be a string of 1 to 200 characters.')
}

function requireMap(input: JsonMap, name: string): JsonMap {
  const value = input[name]
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value))
  }
  throw misshapen(name, 'must be an object.')
}

function misshapen(name: string, rule: string): ApiError {
  return new ApiError('InvalidDataFormat', `body.input.${name} ${rule}`, {
    metadata: { in: 'body', field: `input.${name}` },
  })
}
