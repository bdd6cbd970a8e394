import type { Awaitable } from '../../../domain/authenticator.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import { highestOf } from '../../bots/definitions/index.js'
import type { IntegrationLogs, IntegrationsService } from '../../bots/integrations/index.js'
import type { Feature } from '../../feature.js'
import * as store from './store.js'

/** The integration behind an address that its installations share. */
export interface SharedAddress {
  /** The version whose scripts say which installation a request is for. */
  integrationId: string
  /** All versions, of any of which the installation may be. */
  versionIds: readonly string[]
}

/** Addresses of integrations, which their installations in all bots share. */
export interface SharedAddresses extends Feature {
  /**
   * The integration at an address: the name of an integration.
   * @returns undefined if no integration has it
   */
  find(address: string): Awaitable<SharedAddress | undefined>
}

export interface SharedAddressesDeps {
  db: Db
  run: Run
  clock: Clock
  integrations: {
    service: Pick<IntegrationsService, 'findNamed' | 'findOldestOfName' | 'versionsOf'>
    logs: Pick<IntegrationLogs, 'writeLine'>
  }
}

/**
 * An address belongs to the workspace that had an integration of its name with scripts first, and stays with it as long
 * as it has one: otherwise an integration of somebody else with the same name would get its requests.
 */
export function createSharedAddresses(deps: SharedAddressesDeps): SharedAddresses {
  const { db, run, clock, integrations } = deps
  const { service } = integrations

  async function claim(tx: Tx, address: string, workspaceId: string, name: string): Promise<void> {
    await store.claimAddress(tx, {
      address,
      workspace_id: workspaceId,
      name,
      created_at: isoTime(clock.now()),
    })
  }

  /** Claims the addresses of an integration that was created or changed. */
  async function claimFor(tx: Tx, integrationId: string): Promise<void> {
    const integration = await service.findNamed(tx, integrationId)
    if (!integration?.hasScripts) return
    const { workspaceId, name } = integration
    const addresses = addressesOf(name)
    const taken: string[] = []
    const before = await store.findAddresses(tx, addresses)
    for (const address of addresses) {
      const owner = before.find((row) => row.address === address)
      if (owner === undefined) await claim(tx, address, workspaceId, name)
      else if (owner.workspace_id !== workspaceId) taken.push(address)
      else if (owner.name !== name && address === name) {
        // A name without a handle means itself first.
        await store.deleteAddress(tx, owner)
        await claim(tx, address, workspaceId, name)
      }
    }
    const rest = addresses.filter((address) => !taken.includes(address))
    afterCommit(tx, () => {
      for (const address of addresses) known.forget((key) => key === address)
      if (rest.length === 0) reportTaken(integrationId, name)
    })
  }

  function reportTaken(integrationId: string, name: string): void {
    integrations.logs.writeLine({
      integrationId,
      botId: '',
      level: 'warn',
      message: `requests at /integration/global/${name} do not reach this integration: another workspace had one of this name first. Give it a name that begins with the handle of the workspace.`,
    })
  }

  async function toShared(row: store.SharedAddressRow): Promise<SharedAddress | undefined> {
    const versions = await service.versionsOf(db, { workspaceId: row.workspace_id, name: row.name })
    const answering = answeringOf(versions)
    return answering && { integrationId: answering.id, versionIds: versions.map(({ id }) => id) }
  }

  /** Gives the address of integrations that are gone to the oldest one that is left. */
  async function passOn(row: store.SharedAddressRow): Promise<void> {
    await run(async (tx) => {
      const owner = { workspaceId: row.workspace_id, name: row.name }
      if ((await service.versionsOf(tx, owner)).length > 0) return
      await store.deleteAddress(tx, row)
      const next = await service.findOldestOfName(tx, row.address)
      if (next !== undefined) await claim(tx, row.address, next.workspaceId, next.name)
    })
  }

  async function findRow(address: string): Promise<store.SharedAddressRow | undefined> {
    return (await store.findAddresses(db, [address]))[0]
  }

  async function read(address: string): Promise<SharedAddress | undefined> {
    const row = await findRow(address)
    if (row === undefined) return undefined
    const found = await toShared(row)
    if (found !== undefined) return found
    await passOn(row)
    const next = await findRow(address)
    return next && (await toShared(next))
  }

  const known = createFactCache<SharedAddress>({ clock, maxFacts: 1000, read })

  return {
    name: 'shared-addresses',
    find: (address) => known.get(address),
    on: {
      'integration.changed': (tx, { integrationId }) => claimFor(tx, integrationId),
      'workspace.removed': (tx, { workspaceId }) => store.deleteAddressesOf(tx, workspaceId),
    },
  }
}

/** Names in code are mostly those without the handle, under which a workspace deploys an integration. */
function addressesOf(name: string): string[] {
  const [, withoutHandle] = name.split('/')
  return withoutHandle === undefined ? [name] : [name, withoutHandle]
}

/**
 * The version whose scripts are run: the highest that is published, if one is; otherwise the highest. Those of development
 * tools count only where there is no other.
 */
function answeringOf<Version extends { version: string; visibility: string; dev: number }>(
  versions: readonly Version[],
): Version | undefined {
  const released = versions.filter(({ dev }) => dev === 0)
  const published = released.filter(({ visibility }) => visibility !== 'private')
  const choice = [published, released, versions].find(({ length }) => length > 0) ?? []
  return highestOf(choice, 'latest')
}
