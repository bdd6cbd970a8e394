import { ApiError, contract } from '@botstead/contract'
import { fieldError } from '../../../domain/refusals.js'
import { type Route, route } from '../../../http/mount.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Feature } from '../../feature.js'
import { recordAct } from '../audit/index.js'
import { holdWorkspace } from '../workspaces/index.js'
import * as store from './store.js'

interface PreferencesDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
}

/** Preferences of one account or workspace. */
const maxPreferences = 200
/** Bytes of the JSON of a value. */
const maxValueBytes = 16_384

/** Values that programs keep for a person, and for a workspace. */
export function createPreferences(deps: PreferencesDeps): Feature {
  return {
    name: 'preferences',
    routes: preferencesRoutes(deps),
    on: {
      'account.removed': (tx, { accountId }) => store.deletePreferencesOf(tx, accountId),
      'workspace.removed': (tx, { workspaceId }) => store.deletePreferencesOf(tx, workspaceId),
    },
  }
}

function preferencesRoutes(deps: PreferencesDeps): Route[] {
  const { preferences } = contract
  return [
    route(preferences.getOfAccount, async ({ actor, params }) =>
      getPreference(deps, actor.accountId, params.key),
    ),

    route(preferences.setOfAccount, async ({ actor, params, body }) => {
      await deps.run((tx) => setPreference(deps, tx, actor.accountId, params.key, body.value))
      return {}
    }),

    route(preferences.getOfWorkspace, async ({ actor, params }) =>
      getPreference(deps, actor.workspaceId, params.key),
    ),

    route(preferences.setOfWorkspace, async ({ actor, params, body }) => {
      await deps.run(async (tx) => {
        await holdWorkspace(tx, actor)
        await setPreference(deps, tx, actor.workspaceId, params.key, body.value)
        recordAct(deps, tx, actor, { resourceId: params.key })
      })
      return {}
    }),
  ]
}

async function getPreference(
  { db }: PreferencesDeps,
  ownerId: string,
  key: string,
): Promise<{ value?: unknown }> {
  const value = await store.findValue(db, ownerId, key)
  return value === undefined ? {} : { value: decodeJson(value) }
}

async function setPreference(
  { clock }: PreferencesDeps,
  tx: Tx,
  ownerId: string,
  key: string,
  value: unknown,
): Promise<void> {
  if (value === undefined) return await store.deletePreference(tx, ownerId, key)
  const text = encodeJson(value)
  if (Buffer.byteLength(text) > maxValueBytes) {
    throw fieldError('body.value', `must have at most ${maxValueBytes} bytes as JSON.`)
  }
  if ((await store.countOthers(tx, ownerId, key)) >= maxPreferences) {
    throw new ApiError('LimitExceeded', `There may be ${maxPreferences} preferences.`)
  }
  const updated_at = isoTime(clock.now())
  await store.putPreference(tx, { owner_id: ownerId, key, value: text, updated_at })
}
