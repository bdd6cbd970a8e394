import { ApiError, type Body, type contract } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { requireShape } from '../../../domain/payload.js'
import type { BotProfile, BotProfiles, DeclaredAction } from '../../bots/bots/index.js'
import type { KnownIntegrations } from '../../bots/integrations/index.js'
import type { ServerAction } from '../../feature.js'
import { type CallDeps, jsonOf, requireResponse } from '../requests/index.js'
import type { Target, Targets } from '../targets/index.js'
import type { OutputCache } from './output-cache.js'
import type { ActionRuns } from './runs.js'

type ActionCall = Body<typeof contract.actions.call>

/** The output of an action, and whether it came from the cache. */
export interface ActionOutcome {
  output: Record<string, unknown>
  cached: boolean
}

/** The part of a declaration that a remote call of the action needs. */
type RemoteAction = Pick<DeclaredAction, 'cacheable' | 'input'>

export interface ActionsDeps extends CallDeps {
  botProfiles: BotProfiles
  targets: Pick<Targets, 'of'>
  outputCache: Pick<OutputCache, 'find' | 'keep'>
  runs: Pick<ActionRuns, 'record'>
  integrations: { known: Pick<KnownIntegrations, 'of'> }
}

export type ActionsService = ReturnType<typeof createActionsService>

/**
 * Makes the service that runs actions: those of the server itself, of the bot and of its installed
 * integrations. Calls throw `Runtime` if the receiver cannot be reached, fails or returns no output.
 */
export function createActionsService(deps: ActionsDeps) {
  const { botProfiles, outputCache } = deps
  const serverActions = new Map<string, ServerAction>()

  async function callIntegration(
    botId: string,
    { type, input }: ActionCall,
    alias: string,
    name: string,
    profile: BotProfile,
  ): Promise<ActionOutcome> {
    const installed = profile.calledAs(alias)
    if (installed === undefined) {
      throw unknownAction(type, `no integration is installed as ${alias}`)
    }
    if (!installed.enabled) {
      throw new ApiError('Runtime', `body.type: the integration ${alias} is switched off.`)
    }
    if (installed.isBuiltIn) {
      const builtIn = serverActions.get(name)
      if (builtIn === undefined) throw unknownAction(type, `${alias} has no action ${name}`)
      return { output: await builtIn(botId, input), cached: false }
    }
    const known = await deps.integrations.known.of(installed.integrationId)
    const actions = known?.definition.actions ?? {}
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined
    if (action === undefined) throw unknownAction(type, `${alias} has no action ${name}`)
    const { name: integration } = installed
    return await deps.runs.record({ botId, alias, integration, action: name, input }, () =>
      callRemote(botId, alias, { type, input }, name, action),
    )
  }

  async function callRemote(
    botId: string,
    integration: string,
    { type, input }: ActionCall,
    name: string,
    action: RemoteAction,
  ): Promise<ActionOutcome> {
    requireShape(action.input.schema, input, 'input', `the input of the action ${type}`)
    const call = { botId, type, input }
    const earlier = action.cacheable ? outputCache.find(call) : undefined
    if (earlier !== undefined) return { output: earlier, cached: true }
    const target = await deps.targets.of({ botId, integration })
    if (target === undefined) {
      const owner = integration === '' ? 'bot' : `integration ${integration}`
      throw new ApiError('Runtime', `${type}: the ${owner} has no address to be called at.`)
    }
    const output = await perform(deps, target, name, input)
    if (action.cacheable) outputCache.keep(call, output)
    return { output, cached: false }
  }

  return {
    /** Plugs in actions that this server runs itself, by their name in what is built in. */
    provide(actions: Readonly<Record<string, ServerAction>>): void {
      for (const [name, act] of Object.entries(actions)) serverActions.set(name, act)
    },

    /** Runs an action and waits for its output. */
    async call(actor: BotActor, call: ActionCall): Promise<ActionOutcome> {
      if (actor.caller.type === 'integration') {
        throw new ApiError('Forbidden', 'Actions are called by bots, not by integrations.')
      }
      const { botId } = actor
      const { type } = call
      const profile = await botProfiles.of(botId)
      const own = profile.actionOf(type)
      if (own !== undefined) return await callRemote(botId, '', call, type, own)
      const colon = type.indexOf(':')
      if (colon < 0) throw unknownAction(type, `the bot declares no action ${type}`)
      const alias = type.slice(0, colon)
      return await callIntegration(botId, call, alias, type.slice(colon + 1), profile)
    },
  }
}

function unknownAction(type: string, why: string): ApiError {
  return new ApiError('ResourceNotFound', `body.type: there is no action ${type}: ${why}.`, {
    metadata: { in: 'body', field: 'type' },
  })
}

/**
 * Calls the server of an action and returns its output.
 * @param name name of the action without the alias of the integration
 * @throws ApiError `Runtime` with the message of the server when it fails
 */
async function perform(
  deps: CallDeps,
  target: Target,
  name: string,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const output = outputOf(
    await requireResponse(deps, target, 'action_triggered', { type: name, input }),
  )
  if (output !== undefined) return output
  throw new ApiError('Runtime', 'The response is not {"output": {...}}, as actions must return.')
}

function outputOf(body: Buffer): Record<string, unknown> | undefined {
  const { output } = Object(jsonOf(body))
  return typeof output === 'object' && output !== null && !Array.isArray(output)
    ? output
    : undefined
}
