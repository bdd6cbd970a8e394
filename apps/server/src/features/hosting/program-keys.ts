import { OutgoingError } from '../../platform/outgoing/outgoing.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { Deployment } from '../bots/deployments/index.js'
import type { DeploymentKeys } from '../tenancy/access/index.js'

/** Makes the keys of programs and ends them in the background, for the programs of one process of the server. */
export function createProgramKeys(keys: Pick<DeploymentKeys, 'create'>, log: Log) {
  const ending = new Set<Promise<void>>()

  return {
    /**
     * Makes a key. The function in the result ends it; to be called when the program has ended.
     * @param options whether the deployment is a trial, whose owner may not be stored yet
     * @throws OutgoingError if the owner was deleted
     */
    async create(
      deployment: Deployment,
      options: { isTrial: boolean },
    ): Promise<{ value: string; end(): void }> {
      const key = await keys.create(deployment, options)
      if (key === undefined) {
        throw new OutgoingError('refused', `The ${deployment.owner.type} was deleted.`)
      }
      return {
        value: key.value,
        end() {
          const ended = key.end().catch((err: unknown) => {
            // It ends at the latest when its deployment was replaced, after the longest that a program may take to end.
            log.warn(
              { err, deployment: deployment.id },
              'the key of a program that has ended cannot be deleted now',
            )
          })
          ending.add(ended)
          void ended.then(() => ending.delete(ended))
        },
      }
    },

    /** Resolves when no key is being ended. */
    async settled(): Promise<void> {
      await Promise.all(ending)
    },
  }
}
