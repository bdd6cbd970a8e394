import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Client, createClient } from '@botstead/contract'
import { type ConnectionOptions, connect, isConnectionFailure } from '../connection.js'

export interface SessionOptions extends ConnectionOptions {
  /** Chat address to use, instead of that of a bot. */
  address?: string
  userKey?: string
  conversation?: string
}

/** A conversation, and the user who takes part in it from this terminal. */
export interface ChatSession {
  /** Calls as the user. */
  chat: Client
  baseUrl: string
  webhookId: string
  userKey: string
  userId: string
  conversationId: string
  /** Whether this session created the conversation, so that it has no earlier messages. */
  isNew: boolean
  botName: string
  /** Author of the bot's messages; unknown when only the chat address is given. */
  botId: string | undefined
  /** Calls as the developer of the bot; unknown likewise. */
  admin: Client | undefined
  /** Options that name the bot in other commands; unknown likewise. */
  again: string | undefined
}

type Address = Pick<ChatSession, 'baseUrl' | 'webhookId' | 'botName' | 'botId' | 'admin' | 'again'>

/** Finds the chat address, creates or resumes a user and opens a conversation, according to the options. */
export async function openSession(options: SessionOptions): Promise<ChatSession> {
  const address = options.address ? parseAddress(options.address) : await findAddress(options)
  try {
    const userKey = options.userKey ?? (await createUser(address))
    const chat = createClient({ ...address, userKey })
    const { user } = await chat.chatGetOrCreateUser({})
    const { conversation } = options.conversation
      ? await chat.chatGetConversation({ id: options.conversation })
      : await chat.chatCreateConversation({})
    return {
      ...address,
      chat,
      userKey,
      userId: user.id,
      conversationId: conversation.id,
      isNew: options.conversation === undefined,
    }
  } catch (error) {
    if (!isConnectionFailure(error)) throw error
    throw new Error(`No server responds at ${address.baseUrl}.`, { cause: error })
  }
}

function parseAddress(text: string): Address {
  const [, baseUrl, webhookId] = /^(https?:\/\/.+)\/chat\/([^/?#]+)\/*$/.exec(text) ?? []
  if (baseUrl === undefined || webhookId === undefined) {
    throw new Error('--address must be a chat address such as http://localhost:8787/chat/<id>.')
  }
  const unknown = { botId: undefined, admin: undefined, again: undefined }
  return { baseUrl, webhookId, botName: 'bot', ...unknown }
}

async function findAddress(options: ConnectionOptions): Promise<Address> {
  const { url: baseUrl, token, botId, workspaceId, again } = await connect(options)
  if (workspaceId === undefined) {
    throw new Error(
      'The key of a bot does not identify its chat address: give it with --address, or use a personal token.',
    )
  }
  const admin = createClient({ baseUrl, token, workspaceId })
  const headers = { 'x-multiple-integrations': 'true' }
  const { bot } = await admin.getBot({ id: botId }, { headers })
  const webhookId = bot.integrations.chat?.webhookId
  if (webhookId === undefined) throw new Error(`The bot ${bot.name} has no chat.`)
  // The name of a bot may contain anything, and a suggested command is pasted.
  const words = ` --bot ${botId}${again.words}`
  return { baseUrl, webhookId, botName: bot.name, botId, admin, again: words }
}

async function createUser(address: Address): Promise<string> {
  try {
    return (await createClient(address).chatCreateUser({})).key
  } catch (error) {
    if (!(error instanceof ApiError && error.type === 'Unauthorized')) throw error
    throw new Error(
      'This chat has an encryption key of its own, so users cannot be created here: give a key that was signed with it as --user-key.',
      { cause: error },
    )
  }
}

/** The reason why a message gets no reply. */
export interface Trouble {
  reason: string
  /** Whether no reply will come: `message` to this one, `bot` to any until somebody does something. */
  ends?: 'message' | 'bot'
}

/** Reasons of the overview for which the server does not call the bot. */
const notCalled = new Set(['no_address', 'blocked', 'receiver_paused'])

/**
 * Looks for what keeps a message from being answered.
 * @param sentAt ISO 8601 time of the message
 * @returns undefined if nothing is known, also if the caller may not read that
 */
export async function findTrouble(
  { admin, botId, conversationId }: ChatSession,
  sentAt: string,
): Promise<Trouble | undefined> {
  if (admin === undefined || botId === undefined) return undefined
  try {
    const of = { id: botId, conversationId, kind: 'event_received', since: sentAt } as const
    const { deliveries } = await admin.listDeliveries({ ...of, pageSize: 100 })
    const delivery = deliveries.at(-1)
    const reason = delivery?.lastError
    if (delivery?.status === 'failed') return { reason: reason ?? 'It failed.', ends: 'message' }
    if (delivery !== undefined && delivery.status !== 'pending') return undefined
    const { bots } = await admin.getOverview({ botId })
    const known = bots[0]?.reasons.find(
      ({ kind, target }) => notCalled.has(kind) && target.type === 'bot',
    )
    if (known !== undefined) return { reason: `${known.message} ${known.action}`, ends: 'bot' }
    return reason === undefined ? undefined : { reason }
  } catch {
    return undefined
  }
}

/** Milliseconds before each retry. */
const pauses = [500, 1000, 2000, 4000, 8000]

/**
 * Sends a message. After a lost connection it is sent again with the same idempotency key, so that the
 * server stores it once.
 * @returns its ISO 8601 time
 */
export async function sendText(
  { chat, conversationId }: ChatSession,
  text: string,
): Promise<string> {
  const idempotencyKey = randomUUID()
  const message = { conversationId, payload: { type: 'text' as const, text } }
  for (let attempt = 0; ; attempt += 1) {
    const pause = pauses[attempt]
    try {
      const sent = await chat.chatCreateMessage(message, { idempotencyKey })
      return sent.message.createdAt
    } catch (error) {
      if (pause === undefined || !isTransient(error)) throw error
      await sleep(pause)
    }
  }
}

/** Whether a retry may succeed. */
function isTransient(error: unknown): boolean {
  if (isConnectionFailure(error)) return true
  return error instanceof ApiError && (error.type === 'RateLimited' || error.type === 'Unknown')
}
