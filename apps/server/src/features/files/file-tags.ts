import type { contract, Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { isoTime } from '../../platform/clock.js'
import type { Page } from '../../platform/db/paginate.js'
import { scopeOf } from './lookup/index.js'
import type { FilesDeps } from './service.js'
import { pageTagNames, pageTagValues } from './tag-store.js'

type Paging = Query<typeof contract.fileTags.list>

export type FileTags = ReturnType<typeof createFileTags>

/** Which tags are in use on the files that a caller may see. */
export function createFileTags({ db, clock, pager }: Pick<FilesDeps, 'db' | 'clock' | 'pager'>) {
  function pageOf<Sort extends string>(
    operation: string,
    actor: BotActor,
    { nextToken, pageSize }: Paging,
    sort: Sort,
    filter?: unknown,
  ) {
    const scope = scopeOf(actor, isoTime(clock.now()))
    const page = pager.page({
      operation,
      scope: `${actor.botId} ${scope.integrationId ?? ''}`,
      filter,
      sort,
      direction: 'asc',
      nextToken,
      pageSize,
    })
    return { scope, page }
  }

  return {
    async listNames(actor: BotActor, query: Paging): Promise<Page<string>> {
      const { scope, page } = pageOf('listFileTags', actor, query, 'name')
      return await pageTagNames(db, scope, page)
    },

    async listValues(actor: BotActor, name: string, query: Paging): Promise<Page<string>> {
      const { scope, page } = pageOf('listFileTagValues', actor, query, 'value', { name })
      return await pageTagValues(db, scope, name, page)
    },
  }
}
