import type { Addresses } from '../../../domain/addresses.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { OutgoingError } from '../../../platform/outgoing/outgoing.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { KnownIntegrations } from '../../bots/integrations/index.js'
import { keepWorkspace } from '../../tenancy/workspaces/index.js'
import { tunnelAddressOf } from './protocol.js'
import * as store from './store.js'

export interface ClaimsDeps {
  db: Db
  run: Run
  clock: Clock
  addresses: Pick<Addresses, 'base' | 'local'>
  bots: Pick<BotsService, 'findAddress'>
  integrations: { known: Pick<KnownIntegrations, 'of'> }
  limits: { perWorkspace: number }
}

/** The ids of a bot, or of an integration and the bot in which it is installed. */
export interface ReceiverIds {
  botId?: string | undefined
  integrationId?: string | undefined
}

/** A bot or an integration that is called. */
export interface TunnelReceiver {
  workspaceId: string
  /** Whether a development tool made it. */
  isDev: boolean
  /** Undefined if it has none. */
  url: string | undefined
}

/**
 * Decides which workspace may use a tunnel. A tunnel belongs to the workspace whose bot or integration first has its address:
 * somebody who may change it gave it the id, which nobody else knows. From then on only that workspace is reached
 * through it.
 */
export function createClaims(deps: ClaimsDeps) {
  const { db, run, clock, addresses, bots, integrations, limits } = deps

  /** Undefined for what is neither a bot nor an integration, or is gone. */
  async function findReceiver(ids: ReceiverIds): Promise<TunnelReceiver | undefined> {
    const { botId, integrationId } = ids
    if (integrationId !== undefined) return await integrations.known.of(integrationId)
    return botId === undefined ? undefined : await bots.findAddress(botId)
  }

  function isHere(url: string): boolean {
    const { origin } = new URL(url)
    return [addresses.base(), addresses.local()].some((own) => new URL(own).origin === origin)
  }

  /** Makes sure that a tunnel belongs to the workspace of who is called; throws an `OutgoingError` otherwise. */
  async function require(
    tunnel: store.TunnelRow,
    receiver: TunnelReceiver | undefined,
  ): Promise<void> {
    const workspaceId = receiver?.workspaceId
    if (workspaceId !== undefined && tunnel.workspace_id === workspaceId) return
    if (workspaceId !== undefined && tunnel.workspace_id === null) {
      const isClaimed = await run(async (tx) => {
        // Not deleted until the tunnel is one of those that are deleted with it.
        if (!(await keepWorkspace(tx, workspaceId))) {
          throw new OutgoingError('refused', 'The workspace of the receiver was deleted.')
        }
        const own = { id: tunnel.id, workspaceId }
        const others = await store.countOthersConnected(tx, own, isoTime(clock.now()))
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
    findReceiver,
    isHere,
    require,

    /** Claims the tunnel whose address a bot or an integration has got, before it is called. */
    async claim(ids: ReceiverIds): Promise<void> {
      const receiver = await findReceiver(ids)
      if (receiver?.url === undefined) return
      const address = tunnelAddressOf(receiver.url)
      if (address === undefined || !(receiver.isDev || isHere(receiver.url))) return
      const tunnel = await store.findTunnel(db, address.id)
      if (tunnel?.workspace_id === null) await require(tunnel, receiver)
    },
  }
}
