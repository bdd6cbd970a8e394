import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import { requireOwnHandle, requirePublishable, stillUsed } from '../definitions/index.js'
import { findInstalledBot } from '../installations/index.js'
import { isBuiltInName } from './built-in.js'
import * as store from './store.js'

interface PublishingDeps {
  dialect: Pick<Dialect, 'holdName'>
  workspaces: Pick<WorkspacesService, 'handleOf'>
}

/** Makes the rules about the names of integrations, and about who can use them. */
export function createPublishing({ dialect, workspaces }: PublishingDeps) {
  /** Throws for a name that begins with the handle of another workspace. */
  async function requireOwn(executor: Db | Tx, { name, workspace_id }: store.IntegrationRow) {
    // Most names have no handle and need no read.
    if (!name.includes('/')) return
    requireOwnHandle(name, await workspaces.handleOf(executor, workspace_id))
  }

  /** Throws unless a workspace may publish an integration under this name. */
  async function requirePublic(tx: Tx, row: store.IntegrationRow): Promise<void> {
    // The handle may be that of another workspace by now.
    await requireOwn(tx, row)
    const { name, workspace_id: workspaceId } = row
    const isTaken = async () =>
      isBuiltInName(name) || (await store.isPublishedElsewhere(tx, { name, workspaceId }))
    await requirePublishable(tx, dialect, { kind: 'integration', name, isTaken })
  }

  return {
    requireOwn,

    /** Throws unless a new integration may have its name and its visibility. */
    async requireNew(tx: Tx, row: store.IntegrationRow): Promise<void> {
      await requireOwn(tx, row)
      if (isPublished(row)) await requirePublic(tx, row)
    },

    /** Throws if a change of the visibility takes a name of others, or something from others. */
    async requireVisibility(
      tx: Tx,
      current: store.IntegrationRow,
      next: store.IntegrationRow,
    ): Promise<void> {
      if (isPublished(next) === isPublished(current)) return
      if (isPublished(next)) return await requirePublic(tx, next)
      const place = { integrationId: next.id, workspaceId: next.workspace_id }
      if ((await findInstalledBot(tx, place, 'elsewhere')) === undefined) return
      throw stillUsed(
        `integration ${next.id}`,
        'is installed in bots of other workspaces, so that it cannot become private',
      )
    },
  }
}

/** Whether other workspaces can use it, which is never so for one that a development tool made. */
function isPublished({ visibility, dev }: store.IntegrationRow): boolean {
  return visibility !== 'private' && dev === 0
}
