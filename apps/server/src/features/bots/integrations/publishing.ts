import type { Tx } from '../../../platform/db/schema.js'
import { createPublishing, type PublishingDeps, stillUsed } from '../definitions/index.js'
import { findInstalledBot } from '../installations/index.js'
import { isBuiltInName } from './built-in.js'
import * as store from './store.js'

/** Makes the rules about the names of integrations, and about who can use them. */
export function createIntegrationPublishing(deps: PublishingDeps) {
  return createPublishing<store.IntegrationRow>(deps, {
    kind: 'integration',
    // One that a development tool made is never for others.
    isPublished: ({ visibility, dev }) => visibility !== 'private' && dev === 0,
    isTaken: async (tx, { name, workspace_id: workspaceId }) =>
      isBuiltInName(name) || (await store.isPublishedElsewhere(tx, { name, workspaceId })),
  })
}

/** Throws if bots of other workspaces have installed an integration. */
export async function requireNotElsewhere(
  tx: Tx,
  { id, workspace_id: workspaceId }: store.IntegrationRow,
): Promise<void> {
  const place = { integrationId: id, workspaceId }
  if ((await findInstalledBot(tx, place, 'elsewhere')) === undefined) return
  throw stillUsed(
    `integration ${id}`,
    'is installed in bots of other workspaces, so that it cannot become private',
  )
}
