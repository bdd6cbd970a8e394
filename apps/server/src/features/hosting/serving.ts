import type { Clock } from '../../platform/clock.js'
import type { FactCache } from '../../platform/fact-cache.js'
import { OutgoingError } from '../../platform/outgoing/outgoing.js'
import type { CodeOwner, HostedCode } from '../bots/deployments/index.js'
import type { Blame } from './blame.js'
import type { Capacity } from './capacity.js'
import type { Crashes } from './crashes.js'
import type { Failures } from './failures.js'
import { Instance, type Place } from './instance.js'
import type { Instances } from './instances.js'
import { keyOf } from './owners.js'
import { type Program, StartError } from './program.js'
import type { Supervision } from './supervision.js'

export interface ServingDeps {
  clock: Clock
  /** Maximum number of requests of one program at a time. */
  requests: number
  /** The deployment in force, by the key of its owner. */
  inForce: Pick<FactCache<HostedCode>, 'get'>
  /** Starts the stored code of a deployment; an abort of the signal ends it while it starts. */
  start: (hosted: HostedCode, signal: AbortSignal) => Promise<Program>
  instances: Instances
  capacity: Capacity
  failures: Failures
  blame: Blame
  crashes: Crashes
  supervision: Pick<Supervision, 'watch' | 'afterTimeout'>
  /** Whether an end of a program is no failure of its code from now on. */
  isDraining: () => boolean
}

/** One more request of an instance. */
interface Claim {
  instance: Instance
  /** Call it once, when the request has ended. */
  release(): void
}

/** Puts programs into service. */
export interface Serving {
  /** Gives one more request to the instance of the deployment in force, which is started if it does not run. */
  claim(owner: CodeOwner, place: Place): Promise<Claim>
  /** Starts code, in place of an instance whose deployment was replaced. */
  replace(former: Instance | undefined, hosted: HostedCode, place: Place): Instance
  /** Puts a program into service that was started as a trial. */
  adopt(hosted: HostedCode, program: Program): void
}

/** Milliseconds after which a running program is healthy: earlier failures do not lengthen its next pause. */
const healthyMs = 60_000

export function createServing(deps: ServingDeps): Serving {
  const { clock, requests, inForce, instances, capacity, failures, blame, crashes } = deps
  const { supervision, isDraining } = deps

  function serve(
    hosted: HostedCode,
    { isAlone }: Place,
    start: (signal: AbortSignal) => Promise<Program>,
  ): Instance {
    const cancelling = new AbortController()
    const started = start(cancelling.signal)
    const instance = new Instance(hosted, started, {
      clock,
      requests: isAlone ? 1 : requests,
      isAlone,
      endsByItself: () => blame.endsByItself(hosted.id),
      cancelStart: () => cancelling.abort(endedEarly()),
      onTimeout: supervision.afterTimeout,
    })
    instances.add(instance)
    started.then(
      (program) => {
        void watchEnd(instance, program)
        capacity.makeRoom()
      },
      () => instances.remove(instance),
    )
    supervision.watch()
    return instance
  }

  /** Waits for the end of a program, which is a failure of its code if the program was still in service. */
  async function watchEnd(instance: Instance, program: Program): Promise<void> {
    const startedAt = clock.now()
    const { how } = await program.ended
    if (!instances.remove(instance) || isDraining()) return
    if (clock.now() - startedAt >= healthyMs) failures.forget(instance.hosted.id)
    if (instance.open === 0) blame.endedByItself(instance.hosted.id)
    crashes.ofInstance(instance, `it ended with ${how}`)
  }

  async function startInTurn(hosted: HostedCode, signal: AbortSignal): Promise<Program> {
    const room = await capacity.enter(hosted.workspaceId)
    try {
      const ready = await capacity.begin(hosted.workspaceId)
      try {
        signal.throwIfAborted()
        const program = await deps.start(hosted, signal)
        void program.ended.finally(room.leave)
        room.started()
        return program
      } finally {
        ready()
      }
    } catch (error) {
      room.leave()
      signal.throwIfAborted()
      if (!(error instanceof StartError)) throw error
      crashes.ofCode(hosted, error.message)
      throw new OutgoingError('connection', `The code does not start: ${error.message}`, {
        cause: error,
      })
    }
  }

  function replace(former: Instance | undefined, hosted: HostedCode, place: Place): Instance {
    if (former) instances.end(former)
    failures.requireNoPause(hosted.id)
    return serve(hosted, place, (signal) => startInTurn(hosted, signal))
  }

  function claimOf(instance: Instance): Claim {
    const release = instance.claim()
    return {
      instance,
      release() {
        release()
        capacity.makeRoom()
      },
    }
  }

  return {
    async claim(owner, place) {
      // Nothing is awaited between finding the instance and the claim, because it could end in between.
      for (;;) {
        const current = instances.find(owner, place)
        const known = inForce.get(keyOf(owner))
        const hosted = known instanceof Promise ? await known : known
        // Another instance took over meanwhile: the deployment that was read may be older than that one.
        if (instances.find(owner, place) !== current) continue
        if (hosted === undefined) {
          throw new OutgoingError('refused', `The ${owner.type} has no code that runs here.`)
        }
        return claimOf(current?.hosted.id === hosted.id ? current : replace(current, hosted, place))
      }
    },

    replace,

    adopt(hosted, program) {
      const place = { isAlone: false }
      const former = instances.find(hosted.owner, place)
      serve(hosted, place, async () => program)
      if (former) instances.end(former)
    },
  }
}

function endedEarly(): OutgoingError {
  return new OutgoingError('connection', 'The code was ended before it had started.')
}
