import { allBotsOf } from '../../../domain/rights.js'
import type { Authorities } from '../../../platform/authorities.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Ids } from '../../../platform/ids.js'
import { keepWorkspace } from '../workspaces/index.js'
import { type AccessDeps, makeToken } from './service.js'
import * as store from './store.js'
import type { TokenUsage } from './usage.js'

/** A deployment of the code of a bot or an integration. */
interface KeyedDeployment {
  id: string
  workspaceId: string
  owner: { type: 'bot' | 'integration'; id: string }
}

/** The part of deployments that access reads; they are a slice above this one. */
interface DeploymentDirectory {
  /**
   * Whether a deployment is stored and was not replaced. Until the transaction ends, it is not replaced.
   */
  lockInForce(tx: Tx, deployment: { id: string; workspaceId: string }): Promise<boolean>
}

export interface DeploymentKeysDeps {
  run: Run
  clock: Clock
  timers: Timers
  ids: Ids
  usage: Pick<TokenUsage, 'record'>
  bots: Pick<AccessDeps['bots'], 'hold'>
  integrations: Pick<AccessDeps['integrations'], 'hold'>
  authorities: Pick<Authorities, 'change'>
  deployments: DeploymentDirectory
}

/** Milliseconds for which a key is valid whose deployment is not in force. */
const provisionalLifetime = 60 * 60 * 1000
/**
 * Longest time in milliseconds for which the keys of a replaced deployment are valid. Its programs have 15 minutes for
 * their open requests, and other processes may learn of the replacement a moment later. A key ends with its program; this
 * limit is for programs of servers that were killed.
 */
const maxDrain = 16 * 60 * 1000
/** Milliseconds between two signs of life of the keys of programs that run. They count as uses of the key. */
const signMs = 10 * 60 * 1000
/** Keys of killed servers: beyond the newest of a deployment, those without a sign of life for so many milliseconds. */
const oldKeys = { keep: 100, silentMs: 60 * 60 * 1000 }

/** The key of one program, with which its code calls this server. */
interface ProgramKey {
  value: string
  /** Ends the key, in all processes. To be called when the program has ended. */
  end(): Promise<void>
}

/** Keys of deployed code: one for each program, which ends with it. */
export interface DeploymentKeys {
  /**
   * Makes the key of a program that is about to start. Where its deployment is not in force, it is valid for an hour
   * at most.
   * @param options whether the deployment is a trial, whose owner may not be stored yet
   * @returns undefined if the owner or its workspace was deleted, which this process may not know yet
   */
  create(
    deployment: KeyedDeployment,
    options: { isTrial: boolean },
  ): Promise<ProgramKey | undefined>
  /** Makes the keys of a deployment that is put into force last as long as their programs. */
  keep(tx: Tx, deploymentId: string): Promise<void>
  /** Limits the keys of deployments that are not in force any more to the time that their programs have to end. */
  limit(tx: Tx, deploymentIds: readonly string[]): Promise<void>
  /** Ends the signs of life. */
  stop(): void
}

/** Makes the keys of the programs of all processes of the server. */
export function createDeploymentKeys(deps: DeploymentKeysDeps): DeploymentKeys {
  const { run, clock, timers, usage, authorities, deployments, bots, integrations } = deps
  /** Ids of the keys of programs of this process. */
  const running = new Set<string>()
  let cancelSign: (() => void) | undefined

  function signLater(): void {
    cancelSign ??= timers.after(signMs, () => {
      cancelSign = undefined
      for (const id of running) usage.record({ id, last_used_at: null })
      if (running.size > 0) signLater()
    })
  }

  /** Keeps the owner of a deployment until the transaction ends. Returns whether it is there. */
  async function holdOwner(tx: Tx, { workspaceId, owner }: KeyedDeployment): Promise<boolean> {
    const { hold } = owner.type === 'bot' ? bots : integrations
    return await hold(tx, allBotsOf(workspaceId), owner.id)
  }

  function announce(tx: Tx, ids: readonly string[]): void {
    afterCommit(tx, () => {
      for (const id of ids) authorities.change(`token:${id}`)
    })
  }

  return {
    async create(deployment, { isTrial }) {
      const { id: deployment_id, workspaceId, owner } = deployment
      const { token, value } = makeToken(
        owner.type === 'bot'
          ? { kind: 'bot', workspaceId, botId: owner.id }
          : { kind: 'integration', workspaceId, integrationId: owner.id },
        'deployment',
        deps,
      )
      const isMade = await run(async (tx) => {
        if (!(await keepWorkspace(tx, workspaceId))) return false
        const hasOwner = await holdOwner(tx, deployment)
        if (!hasOwner && !isTrial) return false
        const isInForce = hasOwner && (await deployments.lockInForce(tx, deployment))
        const expires_at = isInForce ? null : isoTime(clock.now() + provisionalLifetime)
        await store.insertToken(tx, { ...token, deployment_id, expires_at })
        const before = isoTime(clock.now() - oldKeys.silentMs)
        const old = await store.deleteOldDeploymentKeys(tx, deployment_id, oldKeys.keep, before)
        announce(tx, old)
        return true
      })
      if (!isMade) return undefined
      running.add(token.id)
      signLater()
      return {
        value,
        async end() {
          running.delete(token.id)
          await run((tx) => store.deleteToken(tx, token.id), { mayUseReserve: true })
          authorities.change(`token:${token.id}`)
        },
      }
    },

    async keep(tx, deploymentId) {
      announce(tx, await store.keepDeploymentKeys(tx, deploymentId))
    },

    async limit(tx, deploymentIds) {
      const at = isoTime(clock.now() + maxDrain)
      announce(tx, await store.endDeploymentKeysAt(tx, deploymentIds, at))
    },

    stop: () => cancelSign?.(),
  }
}
