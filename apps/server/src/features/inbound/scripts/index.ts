import { ApiError, contract } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import type { Clock } from '../../../platform/clock.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { isMap } from '../../bots/definitions/index.js'
import type { FeatureWith } from '../../feature.js'
import { compilingScript, faultOf, type ScriptFault } from './compiling.js'
import {
  createScriptRunner,
  ScriptError,
  ScriptLimitError,
  type ScriptOutcome,
  type ScriptRun,
  ScriptSuspendedError,
  ScriptsBusyError,
} from './runner.js'

export { ScriptError, ScriptLimitError, type ScriptRun, ScriptsBusyError } from './runner.js'

/** Small scripts in VRL: those of integrations find the installation of a request, and make the link of a setup. */
export interface Scripts extends FeatureWith<'routes'> {
  /** Throws `ScriptError` if it fails or runs into a limit, and `ScriptsBusyError` if too many others wait. */
  run(run: ScriptRun): Promise<ScriptOutcome>
  /**
   * Compiles a script of a workspace without running it, in bounded time. Throws `RateLimited` if scripts of the workspace
   * are not compiled now.
   * @returns its fault; undefined if it compiles
   */
  compile(script: string, workspaceId: string): Promise<ScriptFault | undefined>
}

/** Makes the slice. Scripts run in a process of their own, which the first one starts. */
export function createScripts(deps: { clock: Clock; log: Pick<Log, 'warn'> }): Scripts {
  const runner = createScriptRunner(deps)

  async function compile(text: string, workspaceId: string): Promise<ScriptFault | undefined> {
    const owner = `workspace ${workspaceId}`
    try {
      await runner.run({ workspaceId, owner, script: compilingScript(text), data: {} })
      return undefined
    } catch (error) {
      if (error instanceof ScriptSuspendedError) {
        throw new ApiError('RateLimited', error.message, { cause: error })
      }
      if (error instanceof ScriptLimitError) return { reason: error.message, place: undefined }
      if (error instanceof ScriptError) return faultOf(text, error.message)
      throw toApiError(error)
    }
  }

  return {
    name: 'scripts',
    run: runner.run,
    compile,
    routes: [
      route(contract.scripts.run, async ({ actor: { workspaceId }, body }) => {
        const owner = `workspace ${workspaceId}`
        const { data, result } = await runner
          .run({ workspaceId, owner, script: body.script, data: body.data })
          .catch((error: unknown) => {
            throw toApiError(error)
          })
        return { data: isMap(data) ? data : {}, result: result ?? null }
      }),
    ],
    stop: async () => await runner.stop(),
  }
}

function toApiError(error: unknown): unknown {
  if (error instanceof ScriptError) {
    const metadata = { in: 'body', field: 'script' }
    return new ApiError('InvalidPayload', `body.script: ${error.message}`, { metadata })
  }
  if (error instanceof ScriptsBusyError) {
    return new ApiError('RateLimited', error.message, { cause: error })
  }
  return error
}
