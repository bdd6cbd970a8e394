import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { OutgoingError } from '../../../platform/outgoing/outgoing.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { KnownIntegrations } from '../../bots/integrations/index.js'
import { tunnelAddressOf } from './protocol.js'
import * as store from './store.js'

export interface ClaimsDeps {
  db: Db
  run: Run
  clock: Clock
  bots: Pick<BotsService, 'workspaceOf' | 'findServer'>
  integrations: { known: Pick<KnownIntegrations, 'of'> }
  limits: { perWorkspace: number }
}

/** A bot or an integration that is called. */
export interface TunnelUser {
  botId?: string | undefined
  integrationId?: string | undefined
}

/**
 * Whose tunnels are. A tunnel belongs to the workspace whose bot or integration first has its address: somebody
 * who may change it gave it the id, which nobody else knows. From then on only that workspace is reached through it.
 */
export function createClaims({ db, run, clock, bots, integrations, limits }: ClaimsDeps) {
  async function workspaceOf({ botId, integrationId }: TunnelUser): Promise<string | undefined> {
    if (integrationId !== undefined)
      return (await integrations.known.of(integrationId))?.workspaceId
    return botId === undefined ? undefined : await bots.workspaceOf(botId)
  }

  async function urlOf({ botId, integrationId }: TunnelUser): Promise<string | undefined> {
    if (integrationId !== undefined) return (await integrations.known.of(integrationId))?.url
    return botId === undefined ? undefined : (await bots.findServer(botId))?.url
  }

  /** Makes sure that a tunnel belongs to the workspace of who is called; throws an `OutgoingError` otherwise. */
  async function require(tunnel: store.TunnelRow, user: TunnelUser): Promise<void> {
    const workspaceId = await workspaceOf(user)
    if (workspaceId !== undefined && tunnel.workspace_id === workspaceId) return
    if (workspaceId !== undefined && tunnel.workspace_id === null) {
      const isClaimed = await run(async (tx) => {
        const others = await store.countConnected(tx, workspaceId, isoTime(clock.now()))
        if (others >= limits.perWorkspace) {
          throw new OutgoingError(
            'refused',
            `The workspace has ${limits.perWorkspace} development tunnels. The operator can raise BOTSTEAD_MAX_TUNNELS_PER_WORKSPACE.`,
          )
        }
        return await store.claimTunnel(tx, tunnel.id, workspaceId)
      })
      if (isClaimed) return
      if ((await store.findTunnel(db, tunnel.id))?.workspace_id === workspaceId) return
    }
    throw new OutgoingError(
      'refused',
      'The development tunnel with this id belongs to another workspace.',
    )
  }

  return {
    require,

    /** Claims the tunnel whose address a bot or an integration has got, before it is called. */
    async claim(user: TunnelUser): Promise<void> {
      const url = await urlOf(user)
      const address = url === undefined ? undefined : tunnelAddressOf(url)
      if (address === undefined) return
      const tunnel = await store.findTunnel(db, address.id)
      if (tunnel?.workspace_id === null) await require(tunnel, user)
    },
  }
}
