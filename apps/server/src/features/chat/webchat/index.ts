import type { ChatUserActor } from '../../../domain/actor.js'
import { purge } from '../../../platform/db/purge.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { StartStream } from '../../../platform/streams/sink.js'
import { type ChatAccess, notParticipant } from '../access.js'
import type { ListenersOfAll } from '../listeners-of-all.js'
import type { Beside, ConversationStreams, Render } from '../streams/index.js'
import { createWebchatActions, type WebchatActionsDeps } from './actions.js'
import { type ConversationStateDeps, createConversationState } from './conversation-state.js'
import { createDrafts } from './drafts.js'
import { deleteFeedback, deleteFeedbackIn, deleteSomeFeedback } from './feedback-store.js'
import { deleteSomeChatFiles } from './file-store.js'
import { type ChatFilesDeps, createChatFiles } from './files.js'
import { createInitialize, type InitializeDeps } from './initialize.js'
import { createWebchatMessages, type WebchatMessagesDeps } from './messages.js'
import { deleteSomeOpenings } from './opening-store.js'
import { createOpenings, type OpeningsDeps } from './openings.js'
import { createOutcomes, type OutcomesDeps } from './outcomes.js'
import { webchatRoutes } from './routes.js'
import { deleteSecret } from './secret-store.js'
import { type ChatSecretsDeps, createChatSecrets } from './secrets.js'
import { createWebchatRender, type WebchatSignalsDeps } from './signals.js'

export type { AdminCheck } from './secrets.js'
export { toWebchatMessage } from './shapes.js'

export type WebchatDeps = ConversationStateDeps &
  ChatFilesDeps &
  Omit<InitializeDeps, 'state' | 'streams' | 'isAdmin' | 'openings'> &
  OpeningsDeps &
  OutcomesDeps &
  Omit<WebchatMessagesDeps, 'streams'> &
  Omit<WebchatSignalsDeps, 'drafts'> &
  ChatSecretsDeps &
  WebchatActionsDeps

/** The streams of web chats, and those of all protocols together. */
interface WebchatStreams {
  own: ConversationStreams
  all: ListenersOfAll
}

export type Webchat = ReturnType<typeof createWebchat>

/**
 * The additions of the web chat to the chat interface: its own shapes and signals, `initialize`, feedback, files of
 * users, and user keys for programs with the admin secret.
 * @param openStreams creates the streams from the function that renders their events
 */
export function createWebchat(
  deps: WebchatDeps,
  access: ChatAccess,
  openStreams: (render: Render, beside: Beside) => WebchatStreams,
) {
  const { run, listening } = deps
  const state = createConversationState(deps)
  const secrets = createChatSecrets(deps)
  const outcomes = createOutcomes(deps, state)
  const render = createWebchatRender({ ...deps, drafts: createDrafts(deps.db) })
  const streams = openStreams(render, outcomes.beside)
  const messages = createWebchatMessages({ ...deps, streams: streams.all }, access, state)
  const files = createChatFiles(deps, access)
  const { isAdmin } = secrets
  const openings = createOpenings(deps)
  const initialize = createInitialize({ ...deps, isAdmin, state, openings, streams: streams.own })

  async function listen(
    actor: ChatUserActor,
    id: string,
    after: number | undefined,
    pageOrigin: string | undefined,
  ): Promise<StartStream> {
    const opened = await listening.open(actor, id)
    if (opened === undefined) throw notParticipant(id)
    return await listening.follow(streams.own, actor, opened, { after, pageOrigin })
  }

  return {
    isAdmin,
    streams: streams.own,
    /** The listeners of all protocols. */
    listeners: streams.all,
    lastMessagesOf: state.lastMessagesOf,
    actions: createWebchatActions(deps),
    jobs: files.jobs,
    sweeps: [files.sweep, openings.sweep],
    routes: (createMessage: Parameters<typeof webchatRoutes>[1]) =>
      webchatRoutes({ initialize, listen, messages, files, secrets }, createMessage),

    hasFilesIn: files.hasFilesIn,
    announceOutcomes: outcomes.announce,

    async forgetConversation(tx: Tx, { botId, id }: { botId: string; id: string }): Promise<void> {
      await deleteFeedbackIn(tx, botId, id)
      await files.removeLater(tx, botId, 'conversation', id)
    },

    async forgetUser(tx: Tx, { botId, userId }: { botId: string; userId: string }): Promise<void> {
      await files.removeLater(tx, botId, 'user', userId)
    },

    async forgetMessage(
      tx: Tx,
      { botId, messageId }: { botId: string; messageId: string },
    ): Promise<void> {
      await deleteFeedback(tx, botId, messageId)
    },

    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => deleteSomeFeedback(tx, botId, limit))
      await purge(run, (tx, limit) => deleteSomeChatFiles(tx, botId, limit))
      await purge(run, (tx, limit) => deleteSomeOpenings(tx, botId, limit))
      await run((tx) => deleteSecret(tx, botId), { mayUseReserve: true })
    },
  }
}
