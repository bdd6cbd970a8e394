import type { CodeOwner } from '../bots/deployments/index.js'
import type { Instance, Place } from './instance.js'
import { keyOf } from './owners.js'

/** The instances of one process of the server: at most one of an owner in service in each place, and those that end. */
export interface Instances {
  /** The one in service. */
  find(owner: CodeOwner, place: Place): Instance | undefined
  /** Puts one into service, in place of the one before it, which the caller ends. */
  add(instance: Instance): void
  isServing(instance: Instance): boolean
  /** Takes one out of service. @returns whether it was in service */
  remove(instance: Instance): boolean
  /** Takes one out of service; it ends after the requests that it was given. */
  end(instance: Instance): void
  /** Takes one out of service; it ends at once. */
  abort(instance: Instance): void
  inService(): Instance[]
  /** Instances that were taken out of service and have not ended, as they are when each is reached. */
  ending(): Iterable<Instance>
  all(): Instance[]
  /** Resolves when those that are ending now have ended. */
  ended(): Promise<void>
}

/** Milliseconds that a replaced program has for its open requests: the longest that a request may take. */
const retireMs = 15 * 60 * 1000

export function createInstances(): Instances {
  /** The instance that serves each owner, by key. */
  const serving = new Map<string, Instance>()
  /** Instances for requests that are suspected of ending the code, likewise. */
  const alone = new Map<string, Instance>()
  /** Instances that are ending. */
  const retiring = new Map<Instance, Promise<void>>()

  const placesFor = ({ isAlone }: Place) => (isAlone ? alone : serving)
  const inService = () => [...serving.values(), ...alone.values()]

  function isServing(instance: Instance): boolean {
    return placesFor(instance).get(keyOf(instance.hosted.owner)) === instance
  }

  function remove(instance: Instance): boolean {
    return isServing(instance) && placesFor(instance).delete(keyOf(instance.hosted.owner))
  }

  function awaitEnd(instance: Instance, over: Promise<void>): void {
    retiring.set(
      instance,
      over.finally(() => retiring.delete(instance)),
    )
  }

  return {
    find: (owner, place) => placesFor(place).get(keyOf(owner)),
    add: (instance) => void placesFor(instance).set(keyOf(instance.hosted.owner), instance),
    isServing,
    remove,
    end(instance) {
      remove(instance)
      awaitEnd(instance, instance.retire(retireMs))
    },
    abort(instance) {
      remove(instance)
      awaitEnd(instance, instance.abort())
    },
    inService,
    ending: () => retiring.keys(),
    all: () => [...inService(), ...retiring.keys()],
    ended: async () => void (await Promise.all(retiring.values())),
  }
}
