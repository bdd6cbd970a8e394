import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventPublisher } from '../../../platform/events/publisher.js'
import type { Ids } from '../../../platform/ids.js'
import type { Audiences } from '../../bots/bots/index.js'
import type { Makers } from '../../calls/makers/index.js'
import type { Changes } from '../object-changes/index.js'
import { deleteTags } from '../tags/index.js'
import type { UsersService } from '../users/index.js'
import { membership } from './membership.js'
import { type ConversationRef, conversationLog, news } from './news.js'
import * as participants from './participant-store.js'
import { participation } from './participation.js'
import { runtimeConversations } from './runtime.js'
import * as store from './store.js'

export type { ConversationRow } from './store.js'

export interface ConversationsDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  events: EventPublisher
  users: Pick<UsersService, 'findVisible'>
  audiences: Audiences
  changes: Pick<Changes, 'note'>
  makers: Makers
  /** Told in the transaction that removes a conversation: what only makes sense with it goes too. */
  onRemoved: (tx: Tx, conversation: ConversationRef) => Promise<void>
  /** Alias of the integration behind chat addresses: conversations belong to it unless said otherwise. */
  chatAlias: string
}

const purgedAtOnce = 100

export type ConversationsService = ReturnType<typeof createConversationsService>

export function createConversationsService(deps: ConversationsDeps) {
  const { db, run, clock, ids, chatAlias } = deps

  function draft(botId: string): store.ConversationRow {
    const now = isoTime(clock.now())
    return {
      id: ids.next('conv'),
      bot_id: botId,
      foreign_id: null,
      integration: chatAlias,
      channel: 'channel',
      tags: '{}',
      properties: '{}',
      owner_user_id: null,
      claimable: 0,
      message_count: 0,
      last_sequence: 0,
      last_message_at: 0,
      current_workflow_id: null,
      created_at: now,
      updated_at: now,
    }
  }

  const log = conversationLog(deps)
  const members = membership(deps, draft, log.tell)

  const runtime = runtimeConversations(deps, draft, (tx, ref) => remove(tx, ref))

  async function remove(tx: Tx, conversation: ConversationRef): Promise<boolean> {
    const { botId, id } = conversation
    const last = { type: news.conversationDeleted, subjectId: id }
    if ((await log.tell(tx, conversation, last)) === undefined) return false
    await participants.deleteParticipantsOf(tx, botId, id)
    await store.deleteConversations(tx, botId, [id])
    await deleteTags(tx, botId, [id])
    await deps.onRemoved(tx, conversation)
    return true
  }

  return {
    ...log,
    ...members,
    ...runtime,
    ...participation(deps, members, runtime),

    /**
     * Removes a conversation: from the commit on there is nothing under its ids, and its listeners
     * are sent away. What lies in it is removed by the caller. False if there is no such conversation.
     */
    remove,

    /**
     * Shows the workflow that runs in a conversation, if it is there.
     * @param find answers its id, once nobody else changes it; null when none runs
     */
    async showWorkflow(
      tx: Tx,
      { botId, id }: ConversationRef,
      find: () => Promise<string | null>,
    ): Promise<void> {
      const conversation = await store.lockConversation(tx, botId, id)
      if (conversation === undefined) return
      const current_workflow_id = await find()
      if (current_workflow_id === conversation.current_workflow_id) return
      await store.patchConversation(tx, botId, id, { current_workflow_id })
    },

    /**
     * Removes the conversations that a deleted bot left behind.
     * @param empty removes what lies in some of them; they stand until it is done, so that a purge
     * that was interrupted can be repeated
     */
    async purge(
      botId: string,
      empty: (conversationIds: readonly string[]) => Promise<void>,
    ): Promise<void> {
      // First of all, so that nobody puts anything into what was emptied.
      await purge(run, (tx, limit) => participants.deleteSomeParticipants(tx, botId, limit))
      for (;;) {
        const conversationIds = await store.listConversationIds(db, botId, purgedAtOnce)
        if (conversationIds.length === 0) return
        await empty(conversationIds)
        await run((tx) => store.deleteConversations(tx, botId, conversationIds), {
          freesRoom: true,
        })
      }
    },
  }
}
