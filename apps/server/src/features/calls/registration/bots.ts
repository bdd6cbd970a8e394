import { ApiError } from '@botstead/contract'
import type { Run, Tx } from '../../../platform/db/schema.js'
import { OutsideJobError } from '../../../platform/jobs/errors.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotsService } from '../../bots/bots/index.js'
import { type LogLine, lineOfReceiver } from '../../bots/logs/index.js'
import { type CallDeps, isFinal, requireResponse } from '../requests/index.js'
import { findBotTarget } from '../targets/index.js'

export interface BotRegistrationDeps extends CallDeps {
  /** Writes a line into the log of a bot. */
  writeLogLine: (tx: Tx, line: LogLine) => Promise<void>
  run: Run
  queue: Queue
  bots: { service: Pick<BotsService, 'findServer' | 'holdAnywhere'> }
}

/** Name of the job that registers a deployed bot; its key is the id of the bot. */
const registerBotJob = 'bots.register'

/** Attempts with growing pauses: a bot may not be listening yet when it is deployed. */
const maxAttempts = 4

/** Calls deployed bots so that they can prepare themselves, before or while events reach them. */
export function createBotRegistration(deps: BotRegistrationDeps) {
  const { run, queue, bots, writeLogLine } = deps

  async function logFailure(tx: Tx, botId: string, failure: string): Promise<void> {
    // The call may have taken longer than the bot was there.
    if (!(await bots.service.holdAnywhere(tx, botId))) return
    const receiver = { botId, integration: '' }
    await writeLogLine(tx, lineOfReceiver(receiver, 'warn', `register failed: ${failure}`))
  }

  const register: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ payload: { botId }, attempt, maxAttempts }) => {
      const target = await findBotTarget(bots.service, botId)
      if (target === undefined) return
      try {
        await requireResponse(deps, target, 'register', {})
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        // Without a response, or after a transient error, the job is retried. A bot that is not there is no fault of the
        // server: its log says so, and the job ends.
        if (!isRefusal(error) && attempt < maxAttempts) throw new OutsideJobError(error.message)
        await run((tx) => logFailure(tx, botId, error.message))
      }
    },
    onDead: (tx, { payload: { botId } }, error) => logFailure(tx, botId, error.message),
  }

  return {
    jobs: { [registerBotJob]: register },

    /** Calls a bot with `register` after the transaction that deploys it. */
    async enqueue(tx: Tx, botId: string): Promise<void> {
      await queue.enqueue(tx, {
        kind: registerBotJob,
        key: botId,
        payload: { botId },
        maxAttempts,
      })
    },
  }
}

function isRefusal({ metadata }: ApiError): boolean {
  const { status } = Object(metadata)
  return typeof status === 'number' && isFinal(status)
}
