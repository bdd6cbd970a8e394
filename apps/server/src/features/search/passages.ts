import {
  ApiError,
  type Body,
  type contract,
  type Query,
  waitTimeoutDefault,
} from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { isoTime } from '../../platform/clock.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import { type FileRow, scopeOf } from '../files/index.js'
import type { SearchDeps } from './service.js'
import { type PassageRow, pagePassages } from './store.js'

export type PassagesService = ReturnType<typeof createPassagesService>

/** The passages of single files, for those who look after them. */
export function createPassagesService(
  deps: Pick<SearchDeps, 'db' | 'clock' | 'files' | 'limits'> & { pager: Pager },
) {
  const { db, clock, files, limits } = deps

  return {
    /** What search finds of a file, in reading order. */
    async list(
      actor: BotActor,
      idOrKey: string,
      query: Query<typeof contract.filePassages.list>,
    ): Promise<Page<PassageRow>> {
      const { id } = await files.service.get(actor, idOrKey)
      const { nextToken, pageSize, limit } = query
      const page = deps.pager.page({
        operation: 'listFilePassages',
        scope: `${actor.botId} ${id}`,
        sort: 'position',
        direction: 'asc',
        nextToken,
        pageSize: Math.min(pageSize ?? limit ?? 20, limit ?? 100),
      })
      return await pagePassages(db, scopeOf(actor, isoTime(clock.now())), id, page)
    },

    /** Gives a file passages of the caller; answers when they are found, or are still written. */
    async replace(
      actor: BotActor,
      idOrKey: string,
      { passages }: Body<typeof contract.filePassages.set>,
      signal?: AbortSignal,
    ): Promise<void> {
      if (passages.length > limits.passagesPerFile) {
        throw new ApiError(
          'LimitExceeded',
          `body.passages must have at most ${limits.passagesPerFile} items.`,
          { metadata: { in: 'body', field: 'passages', maximum: limits.passagesPerFile } },
        )
      }
      const blank = passages.findIndex(({ content }) => content.trim() === '')
      if (blank >= 0) {
        throw new ApiError(
          'InvalidPayload',
          `body.passages.${blank}.content must have more than white space.`,
          { metadata: { in: 'body', field: `passages.${blank}.content` } },
        )
      }
      const { id } = await files.remaking.replacePassages(actor, idOrKey, JSON.stringify(passages))
      const file = await files.waiting.untilIndexed(actor, id, waitTimeoutDefault, signal)
      if (file.status === 'indexing_failed') {
        throw new ApiError('Internal', file.failed_reason ?? 'The passages could not be stored.')
      }
    },

    async reindex(actor: BotActor, idOrKey: string): Promise<FileRow> {
      return await files.remaking.reindex(actor, idOrKey)
    },
  }
}
