import { ApiError, contract } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { route } from '../../../http/mount.js'
import type { StartStream } from '../../../platform/streams/sink.js'
import { publicIdOf } from '../../conversations/conversations/index.js'
import type { Feature } from '../../feature.js'
import type { ConversationListService } from '../conversation-list/index.js'

/** The streams of those who chat. */
interface Streams {
  subscribe(
    conversation: { botId: string; id: string; publicId: string },
    subscriber: {
      /** Streams are counted by it. */
      userId: string
      authorizedAt: number
      after: number | undefined
      isAuthorized(): Promise<boolean>
      isParticipant(): Promise<boolean>
    },
  ): Promise<StartStream>
}

interface ConversationStreamDeps {
  conversations: Pick<ConversationListService, 'requireIn'>
  streams: Streams
  /** Whether the caller may still read the workspace. */
  isAuthorized(actor: WorkspaceActor): Promise<boolean>
}

/** Conversations of a workspace as they go on: what those who chat receive, without taking part. */
export function createConversationStream(deps: ConversationStreamDeps): Feature {
  const { conversations, streams, isAuthorized } = deps

  async function isReadable(actor: WorkspaceActor, id: string): Promise<boolean> {
    if (!(await isAuthorized(actor))) return false
    try {
      await conversations.requireIn(actor, id)
      return true
    } catch (error) {
      if (error instanceof ApiError && error.type === 'ResourceNotFound') return false
      throw error
    }
  }

  /** @param after number of the last event that the caller has */
  async function follow(
    actor: WorkspaceActor,
    id: string,
    after: number | undefined,
  ): Promise<StartStream> {
    const conversation = await conversations.requireIn(actor, id)
    const { bot_id: botId, last_sequence: authorizedAt } = conversation
    return await streams.subscribe(
      { botId, id, publicId: publicIdOf(conversation) },
      {
        // Counted by account; no event of a conversation removes an account.
        userId: actor.accountId,
        authorizedAt,
        after,
        isAuthorized: () => isReadable(actor, id),
        isParticipant: async () => true,
      },
    )
  }

  return {
    name: 'conversation stream',
    routes: [
      route(contract.inspection.stream, async ({ actor, params, query, headers }) => {
        const header = headers['last-event-id']
        return await follow(
          actor,
          params.id,
          query.lastEventId ?? (header ? Number(header) : undefined),
        )
      }),
    ],
  }
}
