import { ApiError } from '@botstead/contract'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotsService } from '../../bots/bots/index.js'
import { type LogLine, lineOfReceiver } from '../../bots/logs/index.js'
import { askReceiver } from '../requests/ask.js'
import type { CallDeps } from '../requests/request.js'
import { isFinal } from '../requests/verdict.js'
import { findBotTarget } from '../targets/index.js'

export interface BotRegistrationDeps extends CallDeps {
  /** Writes a line into the log of a bot. */
  note: (tx: Tx, line: LogLine) => Promise<void>
  run: Run
  queue: Queue
  bots: { service: Pick<BotsService, 'findServer'> }
}

/** Name of the job that calls a bot which was deployed; its key is the id of the bot. */
const registerBotJob = 'bots.register'

/** Attempts with growing pauses: a bot may be told of here before it listens. */
const attempts = 4

/** Lets bots that were deployed prepare themselves, before or while events reach them. */
export function createBotRegistration(deps: BotRegistrationDeps) {
  const { run, queue, bots, note } = deps

  async function tell(tx: Tx, botId: string, failure: string): Promise<void> {
    const receiver = { botId, integration: '' }
    await note(tx, lineOfReceiver(receiver, 'warn', `register failed: ${failure}`))
  }

  const register: JobHandler<{ botId: string }> = {
    concurrency: 4,
    handler: async ({ payload: { botId } }) => {
      const target = await findBotTarget(bots.service, botId)
      if (target === undefined) return
      try {
        await askReceiver(deps, target, 'register', {})
      } catch (error) {
        // Without an answer, or with one that may pass, it is tried again.
        if (!isRefusal(error)) throw error
        await run((tx) => tell(tx, botId, error.message))
      }
    },
    onDead: (tx, { payload: { botId } }, error) => tell(tx, botId, error.message),
  }

  return {
    jobs: { [registerBotJob]: register },

    /** Has a bot called with `register`, after the transaction that deploys it. */
    async enqueue(tx: Tx, botId: string): Promise<void> {
      const job = { kind: registerBotJob, key: botId, payload: { botId }, maxAttempts: attempts }
      await queue.enqueue(tx, job)
    },
  }
}

function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false
  const { status } = Object(error.metadata)
  return typeof status === 'number' && isFinal(status)
}
