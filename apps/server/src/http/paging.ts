import type { Page } from '../platform/db/paginate.js'

/** The `meta` of a list: an empty object on the last page, never absent. */
export function toPageMeta(page: Pick<Page<unknown>, 'nextToken'>): { nextToken?: string } {
  return page.nextToken === undefined ? {} : { nextToken: page.nextToken }
}
