import type { contract, Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { aliasOf } from '../../../domain/caller.js'
import { storedFilter } from '../../../domain/tags.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import * as store from './store.js'

export interface TagsDeps {
  db: Db
  run: Run
  pager: Pager
}

export type TagsService = ReturnType<typeof createTagsService>

export function createTagsService({ db, run, pager }: TagsDeps) {
  return {
    /** The values of a tag; an integration asks by the bare names of its own tags. */
    async listValues(
      actor: BotActor,
      key: string,
      { type, nextToken, pageSize }: Query<typeof contract.tags.listValues>,
    ): Promise<Page<{ value: string }>> {
      const alias = aliasOf(actor)
      const [name = key] = Object.keys(storedFilter(alias, { [key]: '' }))
      const page = pager.page({
        operation: 'listTagValues',
        scope: actor.botId,
        filter: { type, name },
        sort: 'id',
        direction: 'asc',
        nextToken,
        pageSize,
      })
      return await store.pageTagValues(db, actor.botId, type, name, page)
    },

    /** Removes what a deleted bot left behind. */
    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => store.deleteSomeTags(tx, botId, limit))
    },
  }
}
