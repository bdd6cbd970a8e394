import type { Clock } from '../../../platform/clock.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { workspaceRememberedMs } from './lookups.js'
import type { BotsService } from './service.js'

/** Failures of the server for a while, such as a full disk, must not end the job. */
const maxAttempts = 1000

export interface FollowingDeps {
  run: Run
  clock: Clock
  queue: Pick<Queue, 'enqueue'>
  bots: Pick<BotsService, 'keepWorkspaceOf'>
}

/** The rows of a slice that follow a bot to another workspace. */
interface Followers<Position> {
  /** Kind of the job; the key is the id of the bot. */
  kind: string
  /**
   * Moves some rows of a bot to the workspace where it is now.
   * @param from undefined at the beginning
   * @returns the position of the next ones; undefined at the end
   */
  moveSome(
    tx: Tx,
    bot: { id: string; workspaceId: string },
    from: Position | undefined,
  ): Promise<Position | undefined>
}

/** The bot, and the time from which on no process writes for its former workspace any more. */
interface Move {
  botId: string
  /** Milliseconds since the Unix epoch. */
  settledAt: number
}

/** Makes the job that moves rows after a bot, in small transactions: there may be very many. */
export function createFollowing<Position>(
  { run, clock, queue, bots }: FollowingDeps,
  { kind, moveSome }: Followers<Position>,
) {
  async function enqueue(tx: Tx, payload: Move): Promise<void> {
    await queue.enqueue(tx, {
      kind,
      key: payload.botId,
      payload,
      runAt: payload.settledAt,
      maxAttempts,
    })
  }

  const handler: JobHandler<Move> = {
    mayUseReserve: true,
    handler: async ({ payload: { botId } }, { signal }) => {
      let next: Position | undefined
      const move = async (tx: Tx) => {
        const workspaceId = await bots.keepWorkspaceOf(tx, botId)
        if (workspaceId === undefined) return undefined
        return await moveSome(tx, { id: botId, workspaceId }, next)
      }
      do {
        signal.throwIfAborted()
        next = await run(move, { mayUseReserve: true })
      } while (next !== undefined)
    },
    // A bot that moved again in between keeps the time of the first move, which is too early for the second.
    onDone: async (tx, { payload }) => {
      if (clock.now() < payload.settledAt) await enqueue(tx, payload)
    },
  }

  return {
    jobs: { [kind]: handler },
    /** Enqueues the job in the transaction that moves the bot. */
    async request(tx: Tx, botId: string): Promise<void> {
      // Until then other processes may store rows for the former workspace.
      await enqueue(tx, { botId, settledAt: clock.now() + 2 * workspaceRememberedMs })
    },
  }
}
