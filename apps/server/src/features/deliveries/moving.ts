import type { Clock } from '../../platform/clock.js'
import type { Run, Tx } from '../../platform/db/schema.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import type { Queue } from '../../platform/jobs/queue.js'
import { type BotsService, workspaceRememberedMs } from '../bots/bots/index.js'
import { listAttemptsFrom, moveAttempts } from './attempt-store.js'

/** Kind of the job that moves the attempts of a bot after it to another workspace; the key is the id of the bot. */
const moveAttemptsJob = 'deliveries.move'

/** Failures of the server for a while, such as a full disk, must not end it. */
const maxAttempts = 1000
/** Rows that one transaction moves, about. */
const movedAtOnce = 500

interface MovingDeps {
  run: Run
  clock: Clock
  queue: Pick<Queue, 'enqueue'>
  bots: Pick<BotsService, 'keepWorkspaceOf'>
}

/** The bot, and the time from which on no process writes for its former workspace any more. */
interface Move {
  botId: string
  /** Milliseconds since the Unix epoch. */
  settledAt: number
}

/** Moves the attempts at deliveries of a bot that was moved to another workspace: there may be very many. */
export function createMoving({ run, clock, queue, bots }: MovingDeps) {
  /** Moves some. @returns the time of the next ones; undefined at the end */
  async function moveSome(tx: Tx, botId: string, from: string): Promise<string | undefined> {
    const to = await bots.keepWorkspaceOf(tx, botId)
    if (to === undefined) return undefined
    const found = await listAttemptsFrom(tx, botId, from, movedAtOnce)
    const through = found.at(-1)?.ended_at
    if (through === undefined) return undefined
    await moveAttempts(tx, botId, { from, through, to })
    // Those of the last time are all moved, however many they are.
    return found.length < movedAtOnce ? undefined : `${through} `
  }

  async function enqueue(tx: Tx, payload: Move): Promise<void> {
    await queue.enqueue(tx, {
      kind: moveAttemptsJob,
      key: payload.botId,
      payload,
      runAt: payload.settledAt,
      maxAttempts,
    })
  }

  const handler: JobHandler<Move> = {
    mayUseReserve: true,
    handler: async ({ payload: { botId } }, { signal }) => {
      let next: string | undefined = ''
      while (next !== undefined) {
        signal.throwIfAborted()
        const from: string = next
        next = await run((tx) => moveSome(tx, botId, from), { mayUseReserve: true })
      }
    },
    // A bot that moved again in between keeps the time of the first move, which is too early for the second.
    onDone: async (tx, { payload }) => {
      if (clock.now() < payload.settledAt) await enqueue(tx, payload)
    },
  }

  return {
    jobs: { [moveAttemptsJob]: handler },
    /** Enqueues the job in the transaction that moves the bot. */
    async request(tx: Tx, botId: string): Promise<void> {
      // Until then other processes may store attempts for the former workspace.
      await enqueue(tx, { botId, settledAt: clock.now() + 2 * workspaceRememberedMs })
    },
  }
}
