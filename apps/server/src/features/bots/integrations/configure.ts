import { ApiError, type Body, type contract } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import { findInstallation, patchInstallation } from '../bots/index.js'

type Settings = Body<typeof contract.integrations.configure>

export interface ConfigureDeps {
  run: Run
  /** Plans the next registration of an installation; not at all for null. */
  scheduleNext: (
    tx: Tx,
    place: { botId: string; alias: string },
    every: string | null,
  ) => Promise<void>
}

/** What integrations say of their own installations. */
export function createConfigure({ run, scheduleNext }: ConfigureDeps) {
  return {
    /** The integration that calls names its account, or asks to be registered again and again. */
    async configure({ botId, caller }: BotActor, settings: Settings): Promise<void> {
      if (caller.type !== 'integration') {
        throw new ApiError('Forbidden', 'Only an integration may configure its installation.')
      }
      const { alias } = caller
      const { identifier, scheduleRegisterCall: every } = settings
      await run(async (tx) => {
        const row = await findInstallation(tx, botId, alias)
        if (row === undefined || row.integration_id !== caller.id) {
          throw new ApiError(
            'Forbidden',
            `The integration ${caller.id} is not installed in this bot.`,
          )
        }
        await patchInstallation(tx, botId, alias, {
          ...(identifier !== undefined && { identifier }),
          ...(every !== undefined && { register_every: every }),
        })
        if (every !== undefined && every !== row.register_every) {
          await scheduleNext(tx, { botId, alias }, every)
        }
      })
    },
  }
}
