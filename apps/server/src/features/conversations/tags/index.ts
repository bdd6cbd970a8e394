import type { Route } from '../../../http/mount.js'
import { tagsRoutes } from './routes.js'
import { createTagsService, type TagsDeps, type TagsService } from './service.js'

export { type TagMatch, tagMatchOf } from './match.js'
export {
  carriesAll,
  carriesNoMore,
  deleteTags,
  isFirstTag,
  replaceTags,
} from './store.js'
export { newTags, patchedProperties, patchedTags, type TagsPatch } from './tag-patch.js'

export interface TagValues {
  service: TagsService
  routes: Route[]
}

/** What the tags of a bot's objects say, and how objects are found by them. */
export function createTags(deps: TagsDeps): TagValues {
  const service = createTagsService(deps)
  return { service, routes: tagsRoutes(service) }
}
export { taggedObjects } from './tagged-objects.js'
