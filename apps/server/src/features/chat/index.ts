import { ApiError, allOperations, createOpenApi } from '@botstead/contract'
import type { Authenticator } from '../../domain/authenticator.js'
import { signalReceiver } from '../../domain/deliveries.js'
import { type Authorities, splitGround } from '../../platform/authorities.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import type { Timers } from '../../platform/clock.js'
import { purge } from '../../platform/db/purge.js'
import type { Run, Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { EventDispatcher } from '../../platform/domain-events.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import type { Log } from '../../platform/telemetry/log.js'
import { gauge } from '../../platform/telemetry/metrics.js'
import type { Tracing } from '../../platform/telemetry/tracing.js'
import type { BotsService } from '../bots/bots/index.js'
import type { Targets } from '../calls/targets/index.js'
import type { Deliveries } from '../deliveries/index.js'
import type { Feature, ServerAction } from '../feature.js'
import type { Meter } from '../tenancy/metering/index.js'
import { createChatAccess } from './access.js'
import { requireMap, requireText } from './action-input.js'
import { createChatAddresses, createChatAuthenticator } from './addresses.js'
import { listenersOfAll } from './listeners-of-all.js'
import { createListening } from './listening.js'
import { type MessageStreamInput, messageStreams } from './message-streams.js'
import { chatRoutes } from './routes.js'
import { type ChatService, type ChatServiceDeps, createChatService } from './service.js'
import { createSignalDeliveries } from './signal-deliveries.js'
import { createRender } from './signals.js'
import * as store from './stream-store.js'
import {
  type ConversationStreams,
  createConversationStreams,
  createListenerSlots,
  type ListenerLimits,
} from './streams/index.js'
import { createUserKeys } from './user-keys.js'
import type { ChatMessageRecord } from './view.js'
import { createWebchat, toWebchatMessage, type WebchatDeps } from './webchat/index.js'
import {
  createWebchatSettings,
  type WebchatSettingsDeps,
  type WebchatSettingsService,
  webchatSettingsRoutes,
} from './webchat-settings/index.js'

type GivenToParts = 'keys' | 'addresses' | 'streams' | 'listening' | 'isAdmin'

export type ChatDeps = Omit<ChatServiceDeps, GivenToParts> &
  Omit<WebchatDeps, GivenToParts | 'firstOpenPiece'> &
  OwnDeps

interface OwnDeps {
  bots: Pick<BotsService, 'findChatInstallation' | 'findSignalPosting' | 'findSignalAddress'> &
    WebchatSettingsDeps['bots']
  /** The addresses that responses contain. */
  publicAddresses: WebchatSettingsDeps['addresses']
  bus: EventBus
  authorities: Authorities
  publisher: EventPublisher
  domainEvents: Pick<EventDispatcher, 'raise'>
  meter: Pick<Meter, 'begin'>
  targets: Pick<Targets, 'provide'>
  deliveries: Pick<Deliveries, 'signals'>
  log: Log
  timers: Timers
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
  sharedSecret: Uint8Array
  /** Milliseconds for which user keys of the server are valid; undefined forever. */
  userKeyLifetimeMs?: number | undefined
  limits: ListenerLimits & {
    /** Bytes that may wait for one listener before it is disconnected. */
    pendingBytes: number
  }
  /** Version of the program, for the description of the interface. */
  version: string
}

/** The chat interface: what chat clients call at the chat address of one bot. */
export interface Chat extends Feature {
  service: ChatService
  /** Identifies callers at chat addresses. */
  authenticator: Pick<Authenticator, 'chat' | 'chatUser' | 'holderOf'>
  streams: ConversationStreams
  /** The settings of web chats, and the web sites that may use them. */
  webchatSettings: WebchatSettingsService
  /** Builds a signal, by its position in the log of its conversation, for its delivery. */
  describeSignal(botId: string, position: string): Promise<string | undefined>
}

/** What a user does, who learns that a quota is used up, and nothing of what others used of it. */
async function withoutFigures<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.type !== 'QuotaExceeded') throw cause
    throw new ApiError('QuotaExceeded', 'This chat takes nothing more for now.', { cause })
  }
}

/**
 * Makes the chat interface. It provides `deliveries` with the bodies of signals, and `targets` with the
 * webhooks that receive them.
 */
export function createChat(given: ChatDeps): Chat {
  const run: Run = (body, options) => withoutFigures(given.run(body, options))
  const files: ChatDeps['files'] = {
    ...given.files,
    create: (...args) => withoutFigures(given.files.create(...args)),
  }
  const deps = { ...given, run, files }
  const { bots, clock, sharedSecret, authorities } = deps
  const addresses = createChatAddresses({
    clock,
    findInstallation: (webhookId) => bots.findChatInstallation(webhookId),
  })
  const keys = createUserKeys({ clock, sharedSecret, lifetimeMs: deps.userKeyLifetimeMs })
  const render = createRender(deps)
  const writing = messageStreams({ ...deps, maxCharacters: deps.maxPayloadBytes })
  const slots = createListenerSlots(deps.limits)
  /** Counts how often users may have been deleted or lost their keys. */
  let revocations = 0
  const listened = { ...deps, slots, pendingBytes: deps.limits.pendingBytes }
  const { firstOpenPiece } = writing
  const streams = createConversationStreams({ ...listened, render, firstOpenPiece })
  const access = createChatAccess(deps)
  const webchatSettings = createWebchatSettings({
    ...deps,
    addresses: deps.publicAddresses,
    chatAddresses: addresses,
  })
  const { allowsOrigin } = webchatSettings
  const listening = createListening({ ...deps, addresses, allowsOrigin }, access)
  const webchat = createWebchat(
    { ...deps, keys, listening, firstOpenPiece },
    access,
    (renderWebchat, beside) => {
      // Its pieces are rendered with the text so far, so none has to be repeated to newcomers.
      const own = createConversationStreams({
        ...listened,
        render: renderWebchat,
        beside,
        firstOpenPiece: async () => undefined,
      })
      return { own, all: listenersOfAll(streams, own, () => revocations) }
    },
  )
  const service = createChatService(
    {
      ...deps,
      keys,
      listening,
      isAdmin: webchat.isAdmin,
      streams: { ...webchat.listeners, subscribe: streams.subscribe },
    },
    access,
  )
  const signals = createSignalDeliveries({ ...deps, render })
  deps.targets.provide(signalReceiver, signals.findTarget)
  deps.deliveries.signals.fill(signals.describe)

  authorities.onChange((ground) => {
    const [kind, id] = ground === undefined ? [undefined, undefined] : splitGround(ground)
    if (kind === undefined || kind === 'user') revocations += 1
    if (kind !== undefined && kind !== 'bot') return
    addresses.forget(id)
    // Also the name of the bot may be that of its chat.
    webchatSettings.forget(id)
  })

  /** Ends the open streams of a user who may no longer chat. */
  async function disconnect(tx: Tx, { userId }: { userId: string }): Promise<void> {
    afterCommit(tx, () => authorities.change(`user:${userId}`))
  }

  return {
    name: 'chat',
    service,
    routes: [
      ...chatRoutes(service, webchat, () =>
        createOpenApi(chatOperations, { version: deps.version }),
      ),
      ...webchat.routes(async ({ actor, body, once }) =>
        once<ChatMessageRecord>(
          (remember) => service.createMessage(actor, body, remember),
          (made) => ({ message: toWebchatMessage(made, { isBot: false }) }),
        ),
      ),
      ...webchatSettingsRoutes(webchatSettings),
    ],
    jobs: webchat.jobs,
    authenticator: createChatAuthenticator(addresses, keys, {
      db: deps.db,
      findUser: access.findUser,
    }),
    streams,
    webchatSettings,
    describeSignal: signals.describe,
    actions: {
      ...createChatActions({
        publishMessageStream: writing.publishMessageStream,
        sendEvent: service.sendEvent,
      }),
      ...webchat.actions,
    },
    on: {
      'user.removed': async (tx, user) => {
        await disconnect(tx, user)
        await webchat.forgetUser(tx, user)
      },
      'conversation.removed': webchat.forgetConversation,
      'conversation.unused': async (tx, { botId, id, keep }) => {
        if (await webchat.hasFilesIn(tx, botId, id)) keep()
      },
      'message.removed': webchat.forgetMessage,
      'user.accessRevoked': disconnect,
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => signals.forgetBot(botId)),
      'delivery.ended': async (tx, { deliveries }) => webchat.announceOutcomes(tx, deliveries),
    },
    sweeps: [writing.sweep, ...webchat.sweeps],
    metrics: [
      gauge(
        { name: 'botstead_chat_listeners', help: 'Open streams of chat users in this process.' },
        () => slots.count(),
      ),
    ],
    async purge(botId) {
      await purge(run, (tx, limit) => store.deleteSomeStreams(tx, botId, limit))
      await webchat.purge(botId)
      await webchatSettings.purge(botId)
    },
    // Streams do not end by themselves, so a stopping server would wait for them.
    drain() {
      streams.stop()
      webchat.streams.stop()
    },
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
        conversationId: requireText(input, 'conversationId'),
        signal: requireMap(input, 'signal') as MessageStreamInput['signal'],
      })
      return {}
    },

    async sendEvent(botId, input) {
      await chat.sendEvent(botId, {
        conversationId: requireText(input, 'conversationId'),
        payload: requireMap(input, 'payload'),
      })
      return {}
    },
  }
}
