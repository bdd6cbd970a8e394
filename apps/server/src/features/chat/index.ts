import { allOperations, createOpenApi } from '@botstead/contract'
import type { Authenticator } from '../../domain/authenticator.js'
import type { Route } from '../../http/mount.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { purge } from '../../platform/db/purge.js'
import type { Tx } from '../../platform/db/schema.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { Timers } from '../../platform/timers.js'
import type { BotsService } from '../bots/bots/index.js'
import type { Target } from '../calls/targets/index.js'
import { createChatAddresses } from './addresses.js'
import { createChatAuthenticator } from './authenticator.js'
import { createCallers } from './callers.js'
import { type CustomEventsDeps, createCustomEvents } from './custom-events.js'
import { type MessageStreamInput, messageStreams } from './message-streams.js'
import { chatRoutes } from './routes.js'
import { type ChatService, type ChatServiceDeps, createChatService } from './service.js'
import { createSignalPosts, type SignalPostsDeps } from './signal-posts.js'
import { findSignalTarget } from './signal-target.js'
import { createRender } from './signals.js'
import * as streams from './stream-store.js'
import { createListening, type Listening, type ListeningOptions } from './streams/index.js'
import { createUserKeys } from './user-keys.js'

export interface ChatDeps
  extends Omit<ChatServiceDeps, 'keys' | 'addresses' | 'listening' | 'customEvents'>,
    CustomEventsDeps,
    Pick<SignalPostsDeps, 'events' | 'outbox'> {
  bots: Pick<BotsService, 'findChatInstallation' | 'findSignalPosting' | 'findSignalAddress'>
  /** Most bytes of a payload. */
  maxPayloadBytes: number
  bus: EventBus
  events: EventPublisher
  log: Log
  timers?: Timers
  sharedSecret: Uint8Array
  /** Milliseconds for which a user key that the server made is good; undefined for ever. */
  userKeyLifetimeMs?: number | undefined
  limits: ListeningOptions['limits']
  /** Version of the program, for the description of the interface. */
  version: string
}

export interface Chat {
  service: ChatService
  routes: Route[]
  /** Who calls at a chat address. */
  authenticator: Pick<Authenticator, 'chat' | 'chatUser' | 'holderOf'>
  listening: Listening
  /** To be told when a bot or what is installed in it was changed or removed. */
  forgetBot(botId: string): void
  /** For the action `publishMessageStream` of a bot: pieces of a message that it is writing. */
  publishMessageStream(botId: string, input: MessageStreamInput): Promise<void>
  /** For the action `sendEvent` of a bot: tells the participants, and stores nothing to be fetched. */
  sendEvent: ChatService['sendEvent']
  /** A signal by its place in the log of its conversation, for its delivery. */
  describeSignal(botId: string, place: string): Promise<string | undefined>
  /** Where the signals of a bot are posted; undefined if nowhere. */
  findSignalTarget(botId: string): Promise<Target | undefined>
  /** Empties the pieces of messages that were completed long ago; answers how many messages. */
  sweep(tx: Tx): Promise<number>
  /** Removes what a deleted bot left behind. */
  purge(botId: string): Promise<void>
}

/** What web chats call, at the chat address of one bot. */
export function createChat(deps: ChatDeps): Chat {
  const { bots, clock, sharedSecret, run } = deps
  const addresses = createChatAddresses({
    clock,
    findInstallation: (webhookId) => bots.findChatInstallation(webhookId),
  })
  const keys = createUserKeys({ clock, sharedSecret, lifetimeMs: deps.userKeyLifetimeMs })
  const render = createRender(deps)
  const writing = messageStreams({ ...deps, maxCharacters: deps.maxPayloadBytes })
  const listening = createListening({ ...deps, render, firstOpenPiece: writing.firstOpenPiece })
  const callers = createCallers(deps)
  const service = createChatService(
    { ...deps, keys, addresses, listening, customEvents: createCustomEvents(deps) },
    callers,
  )
  const posts = createSignalPosts({ ...deps, render })
  posts.start()

  return {
    service,
    routes: chatRoutes(service, () => createOpenApi(chatOperations, { version: deps.version })),
    authenticator: createChatAuthenticator(addresses, keys, { ...callers, db: deps.db }),
    listening,
    forgetBot(botId) {
      addresses.forget(botId)
      listening.recheck(botId)
      posts.forget(botId)
    },
    publishMessageStream: writing.publishMessageStream,
    sendEvent: service.sendEvent,
    describeSignal: posts.describe,
    findSignalTarget: (botId) => findSignalTarget(bots, botId),
    sweep: writing.sweep,
    async purge(botId) {
      await purge(run, (tx, limit) => streams.deleteSomeStreams(tx, botId, limit))
    },
  }
}

const chatOperations = allOperations.filter(({ tag }) => tag === 'Chat')
