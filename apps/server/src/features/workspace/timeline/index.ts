import { contract } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import type { Feature } from '../../feature.js'
import { createTimelineService, type TimelineDeps } from './service.js'

/** Timelines of conversations, for people who look at them. */
export function createTimeline(deps: TimelineDeps): Feature {
  const service = createTimelineService(deps)
  return {
    name: 'timeline',
    routes: [
      route(contract.timeline.get, async ({ actor, params, query }) => {
        const { entries, nextToken, previousToken } = await service.page(actor, params.id, query)
        return {
          entries,
          meta: {
            ...(nextToken !== undefined && { nextToken }),
            ...(previousToken !== undefined && { previousToken }),
          },
        }
      }),
    ],
  }
}
