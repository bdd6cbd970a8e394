import type { EventBus } from '../../platform/bus/event-bus.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import { readEvents } from '../../platform/events/read.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Log } from '../../platform/log.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import type { Db, Run, Tx } from '../../schema.js'
import type { BotsService } from '../bots/index.js'
import { type ConversationsService, publicIdOf } from '../conversations/index.js'
import type { Render } from '../listen/index.js'
import { postSignal } from './post-signal.js'
import * as store from './webhook-store.js'

export interface WebhooksDeps {
  db: Db
  run: Run
  bus: EventBus
  events: EventPublisher
  queue: Queue
  log: Log
  outgoing: Outgoing
  bots: Pick<BotsService, 'findChatConfiguration' | 'listSignalReceivers'>
  conversations: Pick<ConversationsService, 'findFor'>
  render: Render
}

/** Name of the job that posts the signals of one conversation, in order. */
export const webhookJob = 'chat.webhook'

/** Topic of the hint that the bots whose signals are posted may be others now. */
const receiversTopic = 'signal-receivers'
const everything = 'all'
const maxAttempts = 12
const eventsAtOnce = 50

/** What the job of a conversation has to know. */
interface WebhookPayload {
  botId: string
  conversationId: string
}

/**
 * Posts every signal to the address that the chat of a bot is configured with. Which signals are to be
 * posted is decided in the transaction of each event, so none is lost; one that is refused is tried
 * again with growing pauses, and the next waits for it.
 */
export function createWebhooks(deps: WebhooksDeps) {
  const { db, run, bus, events, queue, log, outgoing, bots, conversations, render } = deps
  let receivers = new Set<string>()

  async function load(): Promise<void> {
    receivers = new Set(await bots.listSignalReceivers())
  }

  function reload(): void {
    load().catch((err: unknown) => log.error({ err }, 'the receivers of signals cannot be read'))
  }

  events.tap((tx, { botId, stream, sequence }) =>
    receivers.has(botId) ? note(tx, { botId, conversationId: stream }, sequence) : undefined,
  )

  async function note(tx: Tx, payload: WebhookPayload, sequence: number): Promise<void> {
    const { botId, conversationId } = payload
    await store.insertCursor(tx, {
      conversation_id: conversationId,
      bot_id: botId,
      sequence: sequence - 1,
    })
    await queue.enqueue(tx, { kind: webhookJob, key: conversationId, payload, maxAttempts })
  }

  async function roomOf({ botId, conversationId }: WebhookPayload) {
    const member = { botId, userId: '' }
    const found = await conversations.findFor(db, member, conversationId)
    return found && { botId, id: conversationId, publicId: publicIdOf(found.conversation) }
  }

  const handler: JobHandler<WebhookPayload> = {
    concurrency: 8,
    async handler({ payload }, { signal }) {
      const { botId, conversationId } = payload
      const room = await roomOf(payload)
      const { webhookUrl, webhookSecret } = (await bots.findChatConfiguration(botId)) ?? {}
      // Nobody asks for the signals any more, or there is nothing left to tell of.
      if (typeof webhookUrl !== 'string' || webhookUrl === '' || room === undefined) {
        await run((tx) => store.deleteCursor(tx, botId, conversationId))
        return
      }
      const target = {
        url: webhookUrl,
        secret: typeof webhookSecret === 'string' ? webhookSecret : '',
      }
      for (;;) {
        const after = await store.findCursor(db, botId, conversationId)
        if (after === undefined) return
        const news = await readEvents(db, conversationId, after, eventsAtOnce)
        if (news.length === 0) return
        for (const entry of await render(room, news)) {
          for (const frame of entry.frames) await postSignal(outgoing, target, frame.json, signal)
          await run((tx) => store.moveCursor(tx, botId, conversationId, entry.sequence))
        }
      }
    },
    async onDead(tx, { payload }, err) {
      const { botId, conversationId } = payload
      log.error(
        { err, botId, conversationId },
        'signals were given up: the webhook does not take them',
      )
      await store.deleteCursor(tx, botId, conversationId)
    },
  }

  return {
    handler,
    async start(): Promise<void> {
      bus.subscribe({ topic: receiversTopic, key: everything }, { onHint: reload, onGap: reload })
      await load()
    },
    /** A configuration has changed: also the other processes have to look. */
    refresh(): void {
      reload()
      bus.publish({ topic: receiversTopic, key: everything })
    },
  }
}
