import { contract, type Query } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { storedFilter } from '../../../domain/tags.js'
import { route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { Pager } from '../../../platform/db/pager.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { Feature } from '../../feature.js'
import { deleteSomeTags, pageTagValues } from './store.js'

export {
  carriesAll,
  carriesNoMore,
  deleteTags,
  listObjectsWithTag,
  objectsWithTag,
  replaceTags,
  type TagMatch,
} from './store.js'
export {
  newTags,
  patchedProperties,
  patchedTags,
  type TagsPatch,
  tagMatchOf,
} from './tag-patch.js'
export { taggedObjects } from './tagged-objects.js'

export interface TagsDeps {
  db: Db
  run: Run
  pager: Pager
}

/** The tags of a bot's objects, and searches by tags. */
export function createTags({ db, run, pager }: TagsDeps): Feature {
  /** The values of a tag; an integration uses the bare names of its own tags. */
  async function listValues(
    actor: BotActor,
    key: string,
    { type, nextToken, pageSize }: Query<typeof contract.tags.listValues>,
  ) {
    const [name = key] = Object.keys(storedFilter(aliasOf(actor), { [key]: '' }))
    const page = pager.page({
      operation: 'listTagValues',
      scope: actor.botId,
      filter: { type, name },
      sort: 'id',
      direction: 'asc',
      nextToken,
      pageSize,
    })
    return await pageTagValues(db, actor.botId, type, name, page)
  }

  return {
    name: 'tags',
    routes: [
      route(contract.tags.listValues, async ({ actor, params, query }) => {
        const page = await listValues(actor, params.key, query)
        return { tags: page.rows.map(({ value }) => ({ value })), meta: toPageMeta(page) }
      }),
    ],
    async purge(botId) {
      await purge(run, (tx, limit) => deleteSomeTags(tx, botId, limit))
    },
  }
}
