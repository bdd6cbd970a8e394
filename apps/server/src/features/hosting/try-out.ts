import { ApiError } from '@botstead/contract'
import { OutgoingError } from '../../platform/outgoing/outgoing.js'
import type { Deployment, HostedCode } from '../bots/deployments/index.js'
import { excessOf } from './process-tree.js'
import { endMs, endWithin, type Program, StartError } from './program.js'
import type { Programs } from './programs.js'

/** Milliseconds within which new code must respond to a ping. */
const pingMs = 20_000

/** The error of a deployment that was refused, with the reason. */
export function refusal(reason: string): ApiError {
  return new ApiError('Runtime', `body.code was not deployed, and what ran before stays: ${reason}`)
}

export interface TryOutDeps {
  enter: Programs['enter']
  start: (hosted: HostedCode) => Promise<Program>
  /** Maximum bytes of memory of one program in all. */
  memoryBytes: number
}

/**
 * Starts code before it is put into force, and pings it.
 * @throws StartError or OutgoingError with the reason why it may not be put into force; the program then ends
 */
export async function tryOutCode(
  { enter, start, memoryBytes }: TryOutDeps,
  hosted: HostedCode,
): Promise<Program> {
  const room = await enter(hosted.workspaceId)
  let program: Program | undefined
  try {
    const started = await start(hosted)
    program = started
    void started.ended.finally(room.leave)
    await requirePing(started, hosted).catch(async (error: unknown) => {
      throw (await causeOf(started, error, memoryBytes)) ?? error
    })
    room.started()
    return started
  } catch (error) {
    if (program) void program.end()
    else room.leave()
    throw error
  }
}

/** Whether an error is the reason why code may not be put into force, and not a fault of this server. */
export function isReason(error: unknown): error is StartError | OutgoingError {
  return error instanceof StartError || error instanceof OutgoingError
}

/** The cause for which a program did not respond: it ended, or it is so large that it was about to be ended. */
async function causeOf(
  program: Program,
  error: unknown,
  memoryBytes: number,
): Promise<StartError | undefined> {
  if (!(error instanceof OutgoingError)) return undefined
  if (error.failure === 'timeout') {
    const excess = excessOf(await program.usage(), memoryBytes)
    return excess === undefined ? undefined : new StartError(excess, { cause: error })
  }
  const end = await endWithin(program, endMs)
  return end && new StartError(`it ended during a ping: ${end.how}`, { cause: error })
}

async function requirePing(program: Program, { owner }: Deployment): Promise<void> {
  const { status, body } = await program.send({
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-bot-id': owner.id,
      'x-bot-user-id': owner.id,
      'x-bp-operation': 'ping',
      'x-bp-type': 'ping',
      'x-bp-configuration': Buffer.from('{}').toString('base64'),
      ...(owner.type === 'integration' && {
        'x-integration-id': owner.id,
        'x-integration-alias': 'ping',
        'x-webhook-id': owner.id,
      }),
    },
    body: '{}',
    timeoutMs: pingMs,
    maxResponseBytes: 4096,
  })
  if (status >= 200 && status < 300) return
  throw new StartError(
    `it responded to a ping with status ${status}: ${body.toString('utf8').slice(0, 500)}`,
  )
}
