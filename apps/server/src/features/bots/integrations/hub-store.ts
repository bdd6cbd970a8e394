import { sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { installationsIn } from '../installations/index.js'
import { usesIn } from '../interfaces/index.js'
import { type IntegrationRow, type IntegrationSummaryRow, summary } from './store.js'

/** An integration of the hub in a list. */
export type HubRow = IntegrationSummaryRow & {
  workspace_id: string
  verification: 'approved' | 'unapproved'
}

/** Filter of a list of the hub; undefined members match anything. */
export interface HubFilter {
  name: string | undefined
  version: string | undefined
  verification: string | undefined
  /** Part of name, title or description. */
  search: string | undefined
  interfaceId: string | undefined
  interfaceName: string | undefined
  /** A bot, and the workspace in which it must be. */
  installedIn: { botId: string; workspaceId: string } | undefined
}

/** The published versions of a name, the oldest row first. */
export async function listPublishedVersions(
  executor: Db | Tx,
  name: string,
): Promise<Pick<IntegrationRow, 'id' | 'version'>[]> {
  return await executor
    .selectFrom('integrations')
    .select(['id', 'version'])
    .where('visibility', 'in', ['public', 'unlisted'])
    .where('name', '=', name)
    .where('dev', '=', 0)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** @param builtIn what is in the hub without a row in the database */
export async function pageHub(
  db: Db,
  builtIn: HubRow,
  filter: HubFilter,
  page: PageRequest<'created_at' | 'updated_at' | 'name' | 'installs'>,
): Promise<Page<HubRow>> {
  const published = db
    .selectFrom('integrations')
    .select([...summary, 'workspace_id'])
    .select(sql<HubRow['verification']>`'unapproved'`.as('verification'))
    .where('visibility', '=', 'public')
    .where('dev', '=', 0)
  // The columns of a union are matched by their order.
  const columns = [...summary, 'workspace_id', 'verification'] as const
  const constants = columns.map((column) =>
    column === 'installs'
      ? sql<number>`0`.as(column)
      : sql<string>`cast(${builtIn[column]} as text)`.as(column),
  )
  const all = published.unionAll(db.selectNoFrom(constants).$castTo<HubRow>())
  let query = db.selectFrom(all.as('hub')).selectAll('hub')
  const { name, version, verification, search, interfaceId, interfaceName, installedIn } = filter
  if (name !== undefined) query = query.where('name', '=', name)
  if (version !== undefined) query = query.where('version', '=', version)
  if (verification !== undefined) query = query.where(sql.ref('verification'), '=', verification)
  if (installedIn !== undefined) {
    query = query.where(({ exists, ref }) =>
      exists(
        installationsIn(db, installedIn.botId, { id: ref('hub.id') }).where(
          'workspace_id',
          '=',
          installedIn.workspaceId,
        ),
      ),
    )
  }
  if (interfaceId !== undefined) {
    query = query.where(({ exists, ref }) => exists(usesIn(db, ref('hub.id'), { interfaceId })))
  }
  if (interfaceName !== undefined) {
    query = query.where(({ exists, ref }) => exists(usesIn(db, ref('hub.id'), { interfaceName })))
  }
  if (search !== undefined) {
    const words = sql<string>`(name || ' ' || title || ' ' || description)`
    query = query.where(dialectOf(db).contains(words, search))
  }
  return await paginate(query, page)
}
