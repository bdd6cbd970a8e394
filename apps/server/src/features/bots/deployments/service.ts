import { createHash } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import type { Ports } from '../../../domain/ports.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Ids } from '../../../platform/ids.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { SealedSecrets } from '../definitions/index.js'
import * as store from './store.js'

/** The bot or integration to which deployed code belongs. */
export interface CodeOwner {
  readonly type: 'bot' | 'integration'
  readonly id: string
}

/** A deployment of code. */
export interface Deployment {
  readonly id: string
  readonly workspaceId: string
  readonly owner: CodeOwner
}

/** A deployment in force, with the secrets that its code is started with. */
export interface HostedCode extends Deployment {
  /** Decrypted values by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Whether its owner has an address in place of it. */
  readonly isSuspended: boolean
}

/** The deployment in force of a bot or integration, read from its row; undefined if none is. */
export function toHostedCode(
  sealer: Sealer,
  type: CodeOwner['type'],
  row: {
    id: string
    workspace_id: string
    url: string | null
    deployment_id: string | null
    secrets: string
  },
): HostedCode | undefined {
  if (row.deployment_id === null) return undefined
  return {
    id: row.deployment_id,
    workspaceId: row.workspace_id,
    owner: { type, id: row.id },
    secrets: openSecrets(sealer, decodeJson<SealedSecrets>(row.secrets)),
    isSuspended: row.url !== null,
  }
}

function openSecrets(sealer: Sealer, secrets: SealedSecrets): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, sealer.open(value)]),
  )
}

/** Code that was started before it is put into force. */
export interface Trial {
  /** Lets the program serve the owner, in place of the one before. Call it when its deployment has committed. */
  adopt(): void
  /** Ends the program. */
  abandon(): void
}

/**
 * Starts code and pings it.
 * @throws ApiError with the reason if it does not start, or does not respond
 */
export type TryOut = (
  deployment: Deployment,
  program: { code: string; secrets: Readonly<Record<string, string>> },
) => Promise<Trial>

/** A deployment that is not stored yet. */
export interface PreparedDeployment extends Deployment {
  readonly code: string
  /** Hash of the code. */
  readonly bundle: string
  /** The deployment in force when this one was prepared. */
  readonly formerId: string | null
  readonly trial: Trial
}

/** Makes the change that puts a deployment into force, and abandons the trial if the change fails. */
export async function orAbandon<Result>(
  deployment: PreparedDeployment | undefined,
  change: () => Promise<Result>,
): Promise<Result> {
  try {
    return await change()
  } catch (error) {
    deployment?.trial.abandon()
    throw error
  }
}

/** A bot or an integration before a change that may deploy code. */
interface Deployable {
  url: string | null
  deployment_id: string | null
}

/** The fields of a change by which it may deploy code. */
interface DeployingPatch {
  code?: string | undefined
  url?: string | null | undefined
  secrets?: unknown
}

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A deployment is in force, in place of the ones in `replaced`. */
    'deployment.created': { deployment: Deployment; replaced: readonly string[] }
    /** The owner of a deployment got an address, so that its code does not run any more. */
    'deployment.suspended': { deploymentId: string }
  }
}

export interface DeploymentsDeps {
  ports: Pick<Ports, 'open'>
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  sealer: Sealer
  domainEvents: EventDispatcher
}

/** Milliseconds for which a replaced deployment is kept, because its program may still finish requests. */
const keptAfterReplacement = 24 * 60 * 60 * 1000
/** Milliseconds for which an unused bundle is kept. Any value is safe: the transaction that uses a bundle stores it. */
const keptUnused = 60 * 60 * 1000
/** Maximum number of rows that one call of a sweep deletes; those of bundles are large. */
const deploymentsAtOnce = 500
const bundlesAtOnce = 20

export type DeploymentsService = ReturnType<typeof createDeploymentsService>

/** Code that runs at this server: its deployments, and the bundles that were uploaded. */
export function createDeploymentsService({
  db,
  clock,
  ids,
  sealer,
  domainEvents,
  ports,
}: DeploymentsDeps) {
  const tryOut = ports.open<TryOut>('deployments: what runs code')

  return {
    tryOut,

    /**
     * Starts the code that a change deploys: new code, or the code in force with other secrets. A `url` in the
     * change takes precedence over its code.
     *
     * @param secrets the sealed secrets after the change
     * @returns undefined if the change deploys nothing
     * @throws ApiError if the code does not start, or this server runs no code
     */
    async prepare(
      { workspaceId, owner }: Omit<Deployment, 'id'>,
      current: Deployable,
      patch: DeployingPatch,
      secrets: SealedSecrets,
    ): Promise<PreparedDeployment | undefined> {
      const code = await deployedCode(db, workspaceId, current, patch)
      if (code === undefined) return undefined
      const deployment = { id: ids.uuid(), workspaceId, owner }
      const trial = await tryOut.call(deployment, { code, secrets: openSecrets(sealer, secrets) })
      // Not in the transaction, for which others wait: code may have many megabytes.
      const bundle = createHash('sha256').update(code).digest('hex')
      return { ...deployment, code, bundle, formerId: current.deployment_id, trial }
    },

    /**
     * Puts a prepared deployment into force with the transaction that changes its owner.
     * @param current the owner before the change
     */
    async insert(
      tx: Tx,
      { trial, code, bundle, formerId, ...deployment }: PreparedDeployment,
      current: Pick<Deployable, 'deployment_id'>,
    ): Promise<void> {
      // The trial runs with the secrets of that time, which the other deployment may have changed.
      if (current.deployment_id !== formerId) throw deployedMeanwhile(deployment.owner)
      const { id, workspaceId, owner } = deployment
      const now = isoTime(clock.now())
      const row = { workspace_id: workspaceId, owner_type: owner.type, owner_id: owner.id }
      await store.insertBundle(tx, {
        workspace_id: workspaceId,
        hash: bundle,
        code,
        created_at: now,
      })
      const replaced = await store.replaceDeployments(tx, row, now)
      await store.insertDeployment(tx, {
        id,
        ...row,
        bundle,
        created_at: now,
        replaced_at: null,
      })
      await domainEvents.raise(tx, 'deployment.created', { deployment, replaced })
      afterCommit(tx, () => trial.adopt())
    },

    /** Ends the deployment in force in a change by which its owner gets an address. */
    async suspend(
      tx: Tx,
      { url, deployment_id: deploymentId }: Deployable,
      changes: { url?: string | null | undefined },
    ): Promise<void> {
      if (deploymentId === null || url !== null || typeof changes.url !== 'string') return
      await domainEvents.raise(tx, 'deployment.suspended', { deploymentId })
    },

    /**
     * Whether a deployment is stored and was not replaced. Others cannot replace it either before the transaction ends.
     */
    async lockInForce(
      tx: Tx,
      { workspaceId, id }: Pick<Deployment, 'workspaceId' | 'id'>,
    ): Promise<boolean> {
      return await store.lockInForce(tx, workspaceId, id)
    },

    /** The code of a deployment; undefined if it is gone. */
    async codeOf({ workspaceId, id }: Deployment): Promise<string | undefined> {
      return await store.findCode(db, workspaceId, id)
    },

    /** Hash of the bundle of a deployment; undefined if the deployment is gone. */
    async bundleOf(
      { workspaceId, id }: Pick<Deployment, 'workspaceId' | 'id'>,
      executor: Db | Tx = db,
    ): Promise<string | undefined> {
      return await store.findBundleOf(executor, workspaceId, id)
    },

    /** The code of a bundle; undefined if it is gone. */
    async codeIn(workspaceId: string, bundle: string): Promise<string | undefined> {
      return await store.findBundle(db, workspaceId, bundle)
    },

    /** Bytes of the code of a bundle. */
    async sizeIn(tx: Tx, workspaceId: string, bundle: string): Promise<number> {
      return Buffer.byteLength((await store.findBundle(tx, workspaceId, bundle)) ?? '')
    },

    /**
     * Keeps a bundle, also when no deployment refers to it, until `release`.
     * @param keeper id of the object that needs it
     */
    async keep(
      tx: Tx,
      { workspaceId, bundle }: { workspaceId: string; bundle: string },
      keeper: string,
    ): Promise<void> {
      await store.insertKeeper(tx, { keeper, workspace_id: workspaceId, hash: bundle })
    },

    /** Copies a bundle to another workspace, where it stays for an hour until it is used. */
    async copyBundle(tx: Tx, hash: string, move: { from: string; to: string }): Promise<void> {
      await store.copyBundle(tx, hash, move, isoTime(clock.now()))
    },

    /** Moves the keeping of bundles by these keepers to another workspace, which has copies of them. */
    async moveKept(tx: Tx, keepers: readonly string[], to: string): Promise<void> {
      await store.moveKeepers(tx, keepers, to)
    },

    /** Ends the keeping of bundles by these keepers. */
    async release(tx: Tx, keepers: readonly string[]): Promise<void> {
      await store.deleteKeepers(tx, keepers)
    },

    sweeps: [
      (tx: Tx) =>
        store.deleteReplaced(tx, isoTime(clock.now() - keptAfterReplacement), deploymentsAtOnce),
      (tx: Tx) => store.deleteUnused(tx, isoTime(clock.now() - keptUnused), bundlesAtOnce),
    ],
  }
}

function deployedMeanwhile({ type, id }: CodeOwner): ApiError {
  return new ApiError(
    'ResourceLockedConflict',
    `The ${type} ${id} was deployed by another request meanwhile: repeat this one if it is to replace that deployment.`,
  )
}

/** The code that a change puts into force; undefined if what runs stays as it is. */
async function deployedCode(
  db: Db,
  workspaceId: string,
  current: Deployable,
  patch: DeployingPatch,
): Promise<string | undefined> {
  if (typeof patch.url === 'string') return undefined
  if (patch.code !== undefined) return patch.code
  const { deployment_id: deploymentId } = current
  const runsHere = deploymentId !== null && (current.url === null || patch.url === null)
  if (!runsHere || patch.secrets === undefined) return undefined
  const code = await store.findCode(db, workspaceId, deploymentId)
  if (code !== undefined) return code
  throw new ApiError('Internal', `The code of the deployment ${deploymentId} is not there.`)
}
