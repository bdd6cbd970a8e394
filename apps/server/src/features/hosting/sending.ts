import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../platform/outgoing/outgoing.js'
import type { CodeOwner } from '../bots/deployments/index.js'
import type { Blame } from './blame.js'
import { CodeEndedError, type Place, TurnedAwayError } from './instance.js'
import type { Instances } from './instances.js'
import { keyOf } from './owners.js'
import { endWithin } from './program.js'
import type { Serving } from './serving.js'
import { createTurns } from './turns.js'

/** A request that may have ended the code before. It is sent to a program in which no other request is open. */
export interface Suspect {
  /** Identifies the request in all of its tries. */
  id: string
  /** Whether others may have had that program before. If not, it ends after the request. */
  isAfterOthers: boolean
  /**
   * Whether it is blamed for an end only if programs are known to live longer without it: it is given up after this
   * end.
   */
  needsProof: boolean
}

export interface SendOptions {
  suspect?: Suspect | undefined
}

export interface SendingDeps {
  instances: Instances
  serving: Pick<Serving, 'claim'>
  blame: Blame
  isStopped: () => boolean
}

/** Sends a request to the code of an owner, which is started if it does not run. */
export type Send = (
  owner: CodeOwner,
  request: OutgoingRequest,
  options?: SendOptions,
) => Promise<OutgoingResponse>

/** Maximum number of programs that may end before they get a request; then the request fails. */
const maxTurnedAway = 3

export function createSend({ instances, serving, blame, isStopped }: SendingDeps): Send {
  const turns = createTurns()

  function requireRunning(): void {
    if (isStopped()) throw stopping()
  }

  async function sendInPlace(
    owner: CodeOwner,
    request: OutgoingRequest,
    place: Place,
  ): Promise<OutgoingResponse> {
    for (let times = 1; ; times += 1) {
      requireRunning()
      const { instance, release } = await serving.claim(owner, place)
      try {
        return await instance.send(request)
      } catch (error) {
        if (!(error instanceof TurnedAwayError) || times === maxTurnedAway) throw error
      } finally {
        release()
      }
    }
  }

  /** Sends a request as the only one of a program, after that has lived longer than one that ended with the request. */
  async function sendInOwn(
    owner: CodeOwner,
    request: OutgoingRequest,
    { id, needsProof }: Suspect,
  ): Promise<OutgoingResponse> {
    const place = { isAlone: true }
    const former = instances.find(owner, place)
    if (former) instances.end(former)
    requireRunning()
    const waitMs = blame.waitOf(id)
    const { instance, release } = await serving.claim(owner, place)
    try {
      const program = await instance.started
      if (waitMs !== undefined) await endWithin(program, waitMs, request.signal)
      return await instance.send(request)
    } catch (error) {
      if (!(error instanceof CodeEndedError && error.isCertain)) throw error
      blame.endedWith(id, error.livedMs)
      if (!needsProof || waitMs !== undefined) throw error
      const { reason, livedMs, cause } = error
      throw new CodeEndedError(reason, { isCertain: false, livedMs, cause })
    } finally {
      release()
      if (instances.isServing(instance)) instances.end(instance)
    }
  }

  return async (owner, request, { suspect } = {}) => {
    if (suspect === undefined) return await sendInPlace(owner, request, { isAlone: false })
    const endTurn = await turns.take(keyOf(owner), request)
    try {
      if (suspect.isAfterOthers) return await sendInPlace(owner, request, { isAlone: true })
      return await sendInOwn(owner, request, suspect)
    } finally {
      endTurn()
    }
  }
}

/** The error of a request to a server that stops. */
export function stopping(): OutgoingError {
  return new OutgoingError('connection', 'The server is stopping.')
}
