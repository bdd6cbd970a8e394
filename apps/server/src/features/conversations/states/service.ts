import { ApiError, type Body, type contract, type Params } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { encodePayload, requireShape } from '../../../domain/payload.js'
import { notFound } from '../../../domain/refusals.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Run, RunOptions, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotProfile, BotProfiles, DeclaredState } from '../../bots/bots/index.js'
import { requireStateName } from '../../bots/definitions/index.js'
import type { InstallationChange } from '../../bots/installations/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'
import type { EventsService } from '../events/index.js'
import * as store from './store.js'
import { toState } from './view.js'

/** Identifies the state of a call. */
type StateRef = Params<typeof contract.states.get>
type NewState = Body<typeof contract.states.getOrSet>
type StatePatch = Body<typeof contract.states.patch>

export interface StatesDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  queue: Queue
  botProfiles: BotProfiles
  events: Pick<EventsService, 'record' | 'subjectExists'>
  integrations: { service: Pick<IntegrationsService, 'findDeclaredStates'> }
  /** Maximum bytes of a payload. */
  maxPayloadBytes: number
}

/** Name of the job that ends a state; its key is the id of the state. */
export const expireStateJob = 'states.expire'

export type StatesService = ReturnType<typeof createStatesService>

/**
 * Joins the operations of states, which check names and payloads against the declarations of the bot.
 * A job deletes a state that expires, and notifies the bot if the state was its own.
 */
export function createStatesService(deps: StatesDeps) {
  return {
    ...bound(deps, {
      get: getState,
      set: setState,
      getOrSet: getOrSetState,
      patch: patchState,
      setExpiry,
      expire: expireState,
      carryOver: carryStatesOver,
      purge: purgeStates,
    }),
    removeOf: removeStatesOf,
  }
}

/** Whether the caller may use states of this owner. */
async function isOwnState(
  { botProfiles, events }: StatesDeps,
  executor: Db | Tx,
  actor: BotActor,
  { type, id }: StateRef,
): Promise<boolean> {
  const { botId, caller } = actor
  switch (type) {
    case 'bot':
      // Plugins use their alias as the id; ids of bots and integrations are UUIDs.
      return id === botId || !isUuid(id)
    case 'integration':
      if (caller.type === 'integration') return id === caller.id
      return (await botProfiles.of(botId)).hasIntegration(id)
    case 'conversation':
    case 'user':
    case 'workflow':
      return await events.subjectExists(executor, actor, `${type}Id`, id)
    default:
      return type satisfies never
  }
}

async function keyOf(deps: StatesDeps, executor: Db | Tx, actor: BotActor, ref: StateRef) {
  const { type, id, name } = ref
  // The same error for a missing owner and for one of another caller.
  if (!(await isOwnState(deps, executor, actor, ref))) {
    throw notFound(type, id, 'in this bot')
  }
  const integration = aliasOf(actor) ?? ''
  return { bot_id: actor.botId, type, owner_id: id, integration, name }
}

/** The state, unless it has expired: an expired one may not be deleted yet. */
function current(deps: StatesDeps, row: store.StateRow | undefined): store.StateRow | undefined {
  return row !== undefined && !hasExpired(deps, row) ? row : undefined
}

function hasExpired({ clock }: StatesDeps, row: store.StateRow): boolean {
  return row.expires_at !== null && row.expires_at <= isoTime(clock.now())
}

/** Deletes an expired state, and notifies the bot if the state was its own. */
async function endState(
  { events }: StatesDeps,
  tx: Tx,
  profile: BotProfile,
  row: store.StateRow,
): Promise<void> {
  const { bot_id: botId, type, owner_id: ownerId } = row
  await store.deleteState(tx, botId, row.id)
  if (row.integration !== '') return
  await events.record(tx, profile, {
    botId,
    type: 'state_expired',
    payload: encodeJson({ state: toState(row) }),
    isPromised: true,
    ...(type === 'conversation' && { conversationId: ownerId }),
    ...(type === 'user' && { userId: ownerId }),
    ...(type === 'workflow' && { workflowId: ownerId }),
  })
}

/** Runs `work` on the locked state of a key, after ending an expired one. */
async function changeState<T>(
  deps: StatesDeps,
  actor: BotActor,
  ref: StateRef,
  work: (tx: Tx, key: store.StateKey, row: store.StateRow | undefined) => Promise<T>,
  options?: RunOptions,
): Promise<T> {
  const profile = await deps.botProfiles.of(actor.botId)
  return await deps.run(async (tx) => {
    const key = await keyOf(deps, tx, actor, ref)
    await deps.dialect.holdName(tx, `states ${Object.values(key).join(' ')}`)
    const found = await store.lockStateByKey(tx, key)
    if (found === undefined || !hasExpired(deps, found)) return await work(tx, key, found)
    await endState(deps, tx, profile, found)
    return await work(tx, key, undefined)
  }, options)
}

async function enqueueExpiry(
  { queue }: StatesDeps,
  tx: Tx,
  botId: string,
  id: string,
  runAt: number,
): Promise<void> {
  await queue.enqueue(tx, {
    kind: expireStateJob,
    key: id,
    payload: { botId },
    runAt,
    maxAttempts: 100,
  })
}

/** Returns the columns of a state that is changed now, and enqueues the job that ends it. */
async function planExpiry(
  deps: StatesDeps,
  tx: Tx,
  botId: string,
  id: string,
  expiry: number | null,
) {
  const now = deps.clock.now()
  const updated_at = isoTime(now)
  if (expiry === null) return { updated_at, expiry, expires_at: null }
  const runAt = now + expiry
  await enqueueExpiry(deps, tx, botId, id, runAt)
  return { updated_at, expiry, expires_at: isoTime(runAt) }
}

async function insertState(
  deps: StatesDeps,
  tx: Tx,
  key: store.StateKey,
  payload: string,
  expiry: number | null,
): Promise<store.StateRow> {
  requireStateName(key.name, 'params', 'name')
  const id = deps.ids.next('state')
  const plan = await planExpiry(deps, tx, key.bot_id, id, expiry)
  const row = { ...key, id, payload, created_at: plan.updated_at, ...plan }
  await store.insertState(tx, row)
  return row
}

async function replaceState(
  deps: StatesDeps,
  tx: Tx,
  row: store.StateRow,
  payload: string,
  expiry: number | null,
): Promise<store.StateRow> {
  const patch = { payload, ...(await planExpiry(deps, tx, row.bot_id, row.id, expiry)) }
  await store.patchState(tx, row.bot_id, row.id, patch)
  return { ...row, ...patch }
}

/** The declaration of a state by the caller, which is the bot or an integration. */
async function declarationFor(
  { botProfiles }: StatesDeps,
  actor: BotActor,
  { type, name }: StateRef,
): Promise<DeclaredState | undefined> {
  const alias = aliasOf(actor)
  const profile = await botProfiles.of(actor.botId)
  if (alias === undefined) return profile.stateOf(type, name)
  const states = profile.installationOf(alias)?.declares?.states ?? {}
  const state = Object.hasOwn(states, name) ? states[name] : undefined
  return state?.type === type ? { schema: state.schema, expiry: undefined } : undefined
}

function encode(
  deps: StatesDeps,
  { name }: StateRef,
  declaration: DeclaredState | undefined,
  payload: Record<string, unknown>,
): string {
  if (declaration !== undefined) {
    requireShape(declaration.schema, payload, 'payload', `the state ${name}`)
  }
  return encodePayload(payload, deps.maxPayloadBytes)
}

async function getState(deps: StatesDeps, actor: BotActor, ref: StateRef): Promise<store.StateRow> {
  const row = current(deps, await store.findState(deps.db, await keyOf(deps, deps.db, actor, ref)))
  if (row === undefined) throw unset(ref)
  return row
}

/** Sets a state; without a payload it is deleted, and the result shows it empty. */
async function setState(
  deps: StatesDeps,
  actor: BotActor,
  ref: StateRef,
  { payload, expiry }: Body<typeof contract.states.set>,
): Promise<store.StateRow> {
  const declaration = await declarationFor(deps, actor, ref)
  if (payload === null) {
    return await changeState(
      deps,
      actor,
      ref,
      async (tx, key, row) => {
        if (row !== undefined) await store.deleteState(tx, key.bot_id, row.id)
        const now = isoTime(deps.clock.now())
        const nothing = { expiry: null, expires_at: null, payload: '{}', updated_at: now }
        return { ...key, id: deps.ids.next('state'), created_at: now, ...row, ...nothing }
      },
      { mayUseReserve: true },
    )
  }
  const text = encode(deps, ref, declaration, payload)
  const idle = expiry === undefined ? (declaration?.expiry ?? null) : expiry
  return await changeState(deps, actor, ref, (tx, key, row) =>
    row === undefined
      ? insertState(deps, tx, key, text, idle)
      : replaceState(deps, tx, row, text, idle),
  )
}

/** The state; set first if there is none. */
async function getOrSetState(
  deps: StatesDeps,
  actor: BotActor,
  ref: StateRef,
  { payload, expiry }: NewState,
): Promise<store.StateRow> {
  const found = current(
    deps,
    await store.findState(deps.db, await keyOf(deps, deps.db, actor, ref)),
  )
  if (found !== undefined) return found
  const declaration = await declarationFor(deps, actor, ref)
  const text = encode(deps, ref, declaration, payload)
  const idle = expiry === undefined ? (declaration?.expiry ?? null) : expiry
  return await changeState(deps, actor, ref, async (tx, key, row) =>
    row === undefined ? await insertState(deps, tx, key, text, idle) : row,
  )
}

/** Replaces members of a state and restarts its expiry. */
async function patchState(
  deps: StatesDeps,
  actor: BotActor,
  ref: StateRef,
  { payload, expiry }: StatePatch,
): Promise<store.StateRow> {
  const declaration = await declarationFor(deps, actor, ref)
  return await changeState(deps, actor, ref, async (tx, _, row) => {
    if (row === undefined) throw unset(ref)
    const merged = { ...decodeJson<Record<string, unknown>>(row.payload), ...payload }
    const text = encode(deps, ref, declaration, merged)
    return await replaceState(deps, tx, row, text, expiry === undefined ? row.expiry : expiry)
  })
}

async function setExpiry(
  deps: StatesDeps,
  actor: BotActor,
  ref: StateRef,
  expiry: number | null,
): Promise<store.StateRow> {
  return await changeState(deps, actor, ref, async (tx, _, row) => {
    if (row === undefined) throw unset(ref)
    return await replaceState(deps, tx, row, row.payload, expiry)
  })
}

/** Ends an expired state, as its job; enqueues the job again if the state was changed since. */
async function expireState(deps: StatesDeps, botId: string, id: string): Promise<void> {
  const profile = await deps.botProfiles.of(botId)
  await deps.run(
    async (tx) => {
      const row = await store.lockState(tx, botId, id)
      if (row === undefined || row.expires_at === null) return
      if (hasExpired(deps, row)) {
        await endState(deps, tx, profile, row)
        return
      }
      await enqueueExpiry(deps, tx, botId, id, Date.parse(row.expires_at))
    },
    { mayUseReserve: true },
  )
}

/** Deletes the states of a deleted owner, without notifying the bot. */
async function removeStatesOf(
  tx: Tx,
  botId: string,
  type: StateRef['type'],
  ownerId: string,
): Promise<void> {
  await store.deleteStatesOf(tx, botId, type, ownerId)
}

/**
 * Keeps the states of an installation when another version of its integration takes its place: they are credentials of
 * its account, which it keeps too. Those that the new version does not declare any more stay with the old one.
 */
async function carryStatesOver(
  deps: StatesDeps,
  tx: Tx,
  { before, after }: InstallationChange,
): Promise<void> {
  if (!before || !after || before.integration_id === after.integration_id) return
  const { findDeclaredStates } = deps.integrations.service
  const former = await findDeclaredStates(tx, before.integration_id)
  const next = await findDeclaredStates(tx, after.integration_id)
  if (!former || !next) return
  if (former.workspaceId !== next.workspaceId || former.name !== next.name) return
  const kept = former.ofIntegration.filter((name) => !next.ofIntegration.includes(name))
  const { bot_id: botId, alias, integration_id: integrationId } = before
  await store.moveStates(tx, { botId, alias, integrationId }, after.integration_id, kept)
}

/** Deletes the states of a deleted bot. */
async function purgeStates({ run }: StatesDeps, botId: string): Promise<void> {
  await purgeRows(run, (tx, limit) => store.deleteSomeStates(tx, botId, limit))
}

function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)
}

function unset({ type, id, name }: StateRef): ApiError {
  // Existing integrations look for "not found" in the message to tell it from other failures.
  return new ApiError(
    'ResourceNotFound',
    `The state ${name} of the ${type} ${id} was not found: it is not set.`,
  )
}
