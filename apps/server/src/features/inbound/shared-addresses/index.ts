import type { Awaitable } from '../../../platform/awaitable.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import { highestOf } from '../../bots/definitions/index.js'
import type {
  IntegrationLogs,
  IntegrationsService,
  NamedIntegration,
} from '../../bots/integrations/index.js'
import type { Feature } from '../../feature.js'
import { type AccountsDeps, createAccounts } from './accounts.js'
import * as store from './store.js'

/** The integration behind an address that its installations share. */
export interface SharedAddress {
  /** The version whose scripts say which installation a request is for. */
  integrationId: string
  /** Ids of all versions in the workspace: the installation may be of any of them. */
  versionIds: readonly string[]
}

/** The workspace and the name of the integration to which an address belongs. */
type Owner = Pick<NamedIntegration, 'workspaceId' | 'name'>

/** The way in which an address belongs to an integration. */
type Tenure = Pick<store.SharedAddressRow, 'is_lent' | 'kept_until'>

const owned: Tenure = { is_lent: 0, kept_until: null }
const lent: Tenure = { is_lent: 1, kept_until: null }

/**
 * Milliseconds for which an address is kept for a workspace that has deleted its integration: the other service goes on
 * sending there, and the workspace may deploy the integration again.
 */
const keptMs = 7 * 24 * 60 * 60 * 1000

/** Addresses of integrations, which their installations in all bots share. */
export interface SharedAddresses extends Feature {
  /**
   * The integration at an address: the name of an integration.
   * @returns undefined if no integration has it
   */
  find(address: string): Awaitable<SharedAddress | undefined>
}

export interface SharedAddressesDeps extends Omit<AccountsDeps, 'service'> {
  db: Db
  run: Run
  clock: Clock
  integrations: {
    service: Pick<IntegrationsService, 'findNamed' | 'findNamesakes' | 'versionsOf'>
    logs: Pick<IntegrationLogs, 'writeLine'>
  }
}

interface SharedAddressesParts extends SharedAddressesDeps {
  /** The integrations at addresses, as they were read lately. */
  known: ReturnType<typeof createFactCache<SharedAddress>>
}

/**
 * An address belongs to the workspace that had an integration of its name with scripts first, as long as the workspace
 * has one, and a week longer: otherwise an integration of somebody else with the same name would get its requests. An integration in
 * development has an address only as long as no deployed one could have it.
 */
export function createSharedAddresses(deps: SharedAddressesDeps): SharedAddresses {
  const accounts = createAccounts({ ...deps, service: deps.integrations.service })

  const known = createFactCache<SharedAddress>({
    clock: deps.clock,
    maxFacts: 1000,
    read: (address) => readAddress(deps, address),
  })
  const parts = { ...deps, known }

  return {
    name: 'shared-addresses',
    find: (address) => known.get(address),
    on: {
      'integration.changed': (tx, { integrationId }) => claimFor(parts, tx, integrationId),
      'integration.removed': (tx, integration) => passOnOf(parts, tx, integration),
      'installation.identified': accounts.settleIdentified,
      'installations.changed': (tx, { changes }) => accounts.settleChanges(tx, changes),
      'bot.transferred': (tx, { botId }) => accounts.settleMoved(tx, botId),
      'workspace.removed': (tx, { workspaceId }) => passOnOfWorkspace(parts, tx, workspaceId),
    },
  }
}

async function claimAddress(
  { clock }: SharedAddressesDeps,
  tx: Tx,
  address: string,
  { workspaceId, name }: Owner,
  tenure: Tenure,
): Promise<void> {
  await store.claimAddress(tx, {
    address,
    workspace_id: workspaceId,
    name,
    created_at: isoTime(clock.now()),
    ...tenure,
  })
}

async function replaceOwner(
  deps: SharedAddressesDeps,
  tx: Tx,
  row: store.SharedAddressRow,
  owner: Owner,
  tenure: Tenure,
): Promise<void> {
  await store.deleteAddress(tx, row)
  await claimAddress(deps, tx, row.address, owner, tenure)
}

/** Whether an address is kept for a workspace without an integration, or because of one that was deleted. */
function isKept({ clock }: SharedAddressesDeps, { kept_until }: store.SharedAddressRow): boolean {
  return kept_until !== null && kept_until > isoTime(clock.now())
}

/** Whether the owner of an address has deployed versions of its integration, only versions in development, or none. */
async function stageOf(
  deps: SharedAddressesDeps,
  executor: Db | Tx,
  { workspace_id: workspaceId, name }: store.SharedAddressRow,
): Promise<'deployed' | 'development' | 'gone'> {
  const versions = await deps.integrations.service.versionsOf(executor, { workspaceId, name })
  if (versions.some(({ dev }) => dev === 0)) return 'deployed'
  return versions.length > 0 ? 'development' : 'gone'
}

/** The deployed integration to which an address would pass if no deployed one had it. */
async function findDeployed(
  deps: SharedAddressesDeps,
  executor: Db | Tx,
  address: string,
  workspaceId: string,
): Promise<Owner | undefined> {
  const namesakes = await deps.integrations.service.findNamesakes(executor, {
    workspaceId,
    name: address,
  })
  return namesakes.find(({ isDev }) => !isDev)
}

/**
 * Gives an address to a deployed integration that was created or changed.
 * @returns false if the address belongs to another workspace, which has a deployed one
 */
async function claimForDeployed(
  deps: SharedAddressesDeps,
  tx: Tx,
  address: string,
  integration: Owner,
): Promise<boolean> {
  const { workspaceId, name } = integration
  const row = await findRow(tx, address)
  if (row === undefined) await claimAddress(deps, tx, address, integration, owned)
  else if (row.workspace_id === workspaceId) {
    // An integration named `pages` has the address `pages` rather than one named `acme/pages`.
    const hasPrecedence = address === name || (await stageOf(deps, tx, row)) !== 'deployed'
    const isOwned = row.is_lent === 0 && row.kept_until === null
    if (row.name === name ? !isOwned : hasPrecedence)
      await replaceOwner(deps, tx, row, integration, owned)
  } else if (isKept(deps, row) || (await stageOf(deps, tx, row)) === 'deployed') return false
  else await replaceOwner(deps, tx, row, integration, owned)
  return true
}

/** As `claimForDeployed`, for an integration in development. */
async function claimForDev(
  deps: SharedAddressesDeps,
  tx: Tx,
  address: string,
  integration: Owner,
): Promise<boolean> {
  const { workspaceId, name } = integration
  const row = await findRow(tx, address)
  if (row !== undefined && (await stageOf(deps, tx, row)) !== 'gone') {
    return row.workspace_id === workspaceId && row.name === name
  }
  if (row !== undefined && isKept(deps, row)) {
    if (row.workspace_id !== workspaceId) return false
    const { is_lent, kept_until } = row
    await replaceOwner(deps, tx, row, integration, { is_lent, kept_until })
    return true
  }
  if ((await findDeployed(deps, tx, address, workspaceId)) !== undefined) return false
  if (row === undefined) await claimAddress(deps, tx, address, integration, lent)
  else await replaceOwner(deps, tx, row, integration, lent)
  return true
}

/** Claims the addresses of an integration that was created or changed. */
async function claimFor(deps: SharedAddressesParts, tx: Tx, integrationId: string): Promise<void> {
  const integration = await deps.integrations.service.findNamed(tx, integrationId)
  if (!integration?.hasScripts) return
  const { name, isDev } = integration
  const own: string[] = []
  for (const address of addressesOf(name)) {
    const isClaimed = isDev
      ? await claimForDev(deps, tx, address, integration)
      : await claimForDeployed(deps, tx, address, integration)
    if (isClaimed) own.push(address)
  }
  afterCommit(tx, () => {
    forgetAddresses(deps, name)
    if (own.length === 0) reportTaken(deps, integrationId, integration)
  })
}

function forgetAddresses({ known }: SharedAddressesParts, name: string): void {
  for (const address of addressesOf(name)) known.forgetGroup(address)
}

function reportTaken(
  { integrations }: SharedAddressesDeps,
  integrationId: string,
  { name, isDev }: NamedIntegration,
): void {
  integrations.logs.writeLine({
    integrationId,
    botId: '',
    level: 'warn',
    message: `requests at /integration/global/${name} do not reach this integration: ${
      isDev
        ? 'another integration has the address, and one in development takes it from none.'
        : 'another workspace had one of this name first. Give it a name that begins with the handle of the workspace.'
    }`,
  })
}

/**
 * Gives an address whose owner has no deployed integration any more to the integration that is next in line: to one of
 * the same workspace at once, and to that of another one when it has been kept long enough.
 * @param keeper the workspace for which it is kept; empty if that was deleted
 */
async function passOn(
  deps: SharedAddressesDeps,
  tx: Tx,
  row: store.SharedAddressRow,
  keeper = row.workspace_id,
): Promise<void> {
  const stage = await stageOf(deps, tx, row)
  if (stage === 'deployed') return
  const of = { workspaceId: row.workspace_id, name: row.address }
  const namesakes = await deps.integrations.service.findNamesakes(tx, of)
  const own = namesakes.filter(({ workspaceId }) => workspaceId === row.workspace_id)
  const deployed = [...own, ...namesakes].find(({ isDev }) => !isDev)
  if (deployed?.workspaceId === row.workspace_id)
    return await replaceOwner(deps, tx, row, deployed, owned)
  const kept_until = row.kept_until ?? isoTime(deps.clock.now() + keptMs)
  const kept = { ...row, workspace_id: keeper, kept_until }
  if (row.is_lent === 0 && isKept(deps, kept)) {
    const inDevelopment = stage === 'development' ? undefined : own[0]
    if (inDevelopment === undefined) await store.keepAddress(tx, kept)
    else await replaceOwner(deps, tx, row, inDevelopment, { is_lent: 0, kept_until })
    return
  }
  const next = deployed ?? (stage === 'development' ? undefined : namesakes[0])
  if (next !== undefined) await replaceOwner(deps, tx, row, next, next.isDev ? lent : owned)
  else if (stage === 'gone') await store.deleteAddress(tx, row)
}

/** Passes on the addresses of an integration that was removed. */
async function passOnOf(
  deps: SharedAddressesParts,
  tx: Tx,
  { workspaceId, name }: Owner,
): Promise<void> {
  for (const row of await store.findAddresses(tx, addressesOf(name))) {
    if (row.workspace_id === workspaceId && row.name === name) await passOn(deps, tx, row)
  }
  afterCommit(tx, () => forgetAddresses(deps, name))
}

async function passOnOfWorkspace(
  deps: SharedAddressesParts,
  tx: Tx,
  workspaceId: string,
): Promise<void> {
  for (const row of await store.listAddressesOf(tx, workspaceId)) {
    await passOn(deps, tx, row, '')
    afterCommit(tx, () => deps.known.forgetGroup(row.address))
  }
}

async function toShared(
  deps: SharedAddressesDeps,
  row: store.SharedAddressRow,
): Promise<SharedAddress | undefined> {
  const versions = await deps.integrations.service.versionsOf(deps.db, {
    workspaceId: row.workspace_id,
    name: row.name,
  })
  const version = scriptVersionOf(versions)
  return version && { integrationId: version.id, versionIds: versions.map(({ id }) => id) }
}

async function findRow(
  executor: Db | Tx,
  address: string,
): Promise<store.SharedAddressRow | undefined> {
  return (await store.findAddresses(executor, [address]))[0]
}

async function readAddress(
  deps: SharedAddressesDeps,
  address: string,
): Promise<SharedAddress | undefined> {
  const row = await findRow(deps.db, address)
  if (row === undefined) return undefined
  const stage = await stageOf(deps, deps.db, row)
  const isRightful =
    stage === 'deployed' ||
    (stage === 'development' &&
      (await findDeployed(deps, deps.db, address, row.workspace_id)) === undefined)
  if (isRightful || isKept(deps, row)) return await toShared(deps, row)
  // Earlier versions of the server let integrations in development take addresses.
  await deps.run((tx) => passOn(deps, tx, row))
  const next = await findRow(deps.db, address)
  return next && (await toShared(deps, next))
}

/**
 * The addresses of an integration: its name, and its name without the handle, because the code of an integration mostly
 * makes its address of that name, although the workspace deploys it with the handle.
 */
function addressesOf(name: string): string[] {
  const [, withoutHandle] = name.split('/')
  return withoutHandle === undefined ? [name] : [name, withoutHandle]
}

/**
 * The version whose scripts are run: the highest that is published, if one is; otherwise the highest. Those of development
 * tools count only where there is no other.
 */
function scriptVersionOf<Version extends { version: string; visibility: string; dev: number }>(
  versions: readonly Version[],
): Version | undefined {
  const released = versions.filter(({ dev }) => dev === 0)
  const published = released.filter(({ visibility }) => visibility !== 'private')
  const choice = [published, released, versions].find(({ length }) => length > 0) ?? []
  return highestOf(choice, 'latest')
}
