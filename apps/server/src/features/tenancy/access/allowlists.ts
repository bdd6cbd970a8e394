import { type Body, contract, type Output } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { noReference, notFound } from '../../../domain/refusals.js'
import { type Route, route } from '../../../http/mount.js'
import type { Authorities } from '../../../platform/authorities.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { type AuditDeps, recordAct } from '../audit/index.js'
import type { MembersService } from '../members/index.js'
import { holdWorkspace } from '../workspaces/index.js'
import * as store from './allowlist-store.js'
import type { BotDirectory } from './reach.js'

interface AllowlistsDeps extends AuditDeps {
  db: Db
  members: Pick<MembersService, 'hold'>
  run: Run
  bots: Pick<BotDirectory, 'isIn' | 'hold'>
  authorities: Pick<Authorities, 'change'>
}

/** The members who may see a bot. */
export function allowlistRoutes(deps: AllowlistsDeps): Route[] {
  const { db } = deps
  return [
    route(contract.botAllowlists.get, async ({ actor, params: { botId } }) => {
      await requireBot(deps, actor, botId)
      const isLimited = await store.isLimited(db, botId)
      return toAllowlist(isLimited, await store.listAllowed(db, botId))
    }),

    route(contract.botAllowlists.update, async ({ actor, params, body }) => {
      await updateAllowlist(deps, actor, params.botId, body)
      return {}
    }),
  ]
}

async function requireBot(
  { bots }: AllowlistsDeps,
  actor: WorkspaceActor,
  botId: string,
): Promise<void> {
  if (!(await bots.isIn(actor, botId))) throw notFound('bot', botId, 'in this workspace')
}

async function updateAllowlist(
  deps: AllowlistsDeps,
  actor: WorkspaceActor,
  botId: string,
  { setting, users = {} }: Body<typeof contract.botAllowlists.update>,
): Promise<void> {
  const { run, bots, members, authorities } = deps
  const { workspaceId } = actor
  const added = Object.keys(users).filter((id) => users[id])
  const removed = Object.keys(users).filter((id) => !users[id])
  await run(async (tx) => {
    await holdWorkspace(tx, actor)
    if (!(await bots.hold(tx, actor, botId))) {
      throw notFound('bot', botId, 'in this workspace')
    }
    const held = await members.hold(tx, workspaceId, added)
    const stranger = added.find((id) => !held.has(id))
    if (stranger !== undefined) {
      throw noReference(
        `body.users.${stranger}`,
        'member with the account',
        stranger,
        'in this workspace',
      )
    }
    if (setting !== undefined) {
      await store.setLimited(tx, workspaceId, botId, setting === 'SELECTED_USERS')
    }
    await store.addAllowed(tx, workspaceId, botId, added)
    await store.removeAllowed(tx, botId, removed)
    recordAct(deps, tx, actor, {
      resourceId: botId,
      changes: {
        ...(setting !== undefined && { setting: { to: setting } }),
        ...(added.length > 0 && { added: { to: added } }),
        ...(removed.length > 0 && { removed: { to: removed } }),
      },
    })
    afterCommit(tx, () => authorities.change(`workspace:${workspaceId}`))
  })
}

function toAllowlist(
  isLimited: boolean,
  accountIds: readonly string[],
): Output<typeof contract.botAllowlists.get> {
  return {
    setting: isLimited ? 'SELECTED_USERS' : 'ALL_WORKSPACE_USERS',
    users: accountIds.map((id) => ({ id })),
  }
}
