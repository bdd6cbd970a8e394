import { contract } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import type { Standing } from '../../../domain/standing.js'
import { route } from '../../../http/mount.js'
import type { Authorities } from '../../../platform/authorities.js'
import type { StartStream } from '../../../platform/streams/sink.js'
import type { BotsService } from '../../bots/bots/index.js'
import { publicIdOf } from '../../conversations/conversations/index.js'
import type { Feature } from '../../feature.js'
import type { ConversationListService } from '../conversations/index.js'

/** The streams of those who chat. */
interface Streams {
  subscribe(
    conversation: { botId: string; id: string; publicId: string },
    subscriber: {
      /** Streams are counted by it. */
      userId: string
      authorizedAt: number
      after: number | undefined
      watch(end: () => void): () => void
      isParticipant(): Promise<boolean>
    },
  ): Promise<StartStream>
}

interface ConversationStreamDeps {
  conversations: Pick<ConversationListService, 'requireIn'>
  streams: Streams
  authorities: Pick<Authorities, 'guard'>
  standing: Standing
  bots: Pick<BotsService, 'workspaceOf'>
}

/** A person who follows a conversation of a bot. */
interface Followed {
  actor: WorkspaceActor
  botId: string
}

/** Streams of the conversations of a workspace: its members receive the signals of chat clients without being participants. */
export function createConversationStream(deps: ConversationStreamDeps): Feature {
  const { conversations, streams, standing, bots } = deps
  const guard = deps.authorities.guard<Followed>(async (followed) => {
    const until = await standing.untilOf(followed.map(({ actor }) => actor))
    const workspaces = new Map<string, string | undefined>()
    for (const { botId } of followed) {
      if (!workspaces.has(botId)) workspaces.set(botId, await bots.workspaceOf(botId))
    }
    return followed.map(({ actor, botId }, at) =>
      workspaces.get(botId) === actor.workspaceId ? (until[at] ?? 0) : 0,
    )
  })

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
        // The end of the conversation itself is an event of it.
        watch: (end) =>
          guard.watch({
            authority: { actor, botId },
            grounds: [...standing.groundsOf(actor), `bot:${botId}`],
            end,
          }),
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
