import { ApiError } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { fieldError } from '../../../domain/refusals.js'
import type { BotProfile, InstalledAs } from '../../bots/bots/index.js'
import type { Creation } from '../../bots/integrations/index.js'
import { type CallDeps, jsonOf, requireResponse } from '../requests/index.js'
import { findIntegrationTarget, type IntegrationTargetDeps } from '../targets/index.js'

/** Creates users and conversations on the servers of integrations. */
export interface RemoteCreator {
  /**
   * Calls an integration to create a user or a conversation for a bot, and returns its id.
   * @throws ApiError `Runtime` with the message of the integration when the call fails
   */
  create(
    installation: { botId: string; alias: string },
    operation: 'create_user' | 'create_conversation',
    body: { tags: Record<string, string>; channel?: string },
  ): Promise<string>
}

/** An installed integration with a server of its own, which a bot names to create something there. */
export type CreatingIntegration = InstalledAs & { alias: string }

/** The integration that creates the object of a request; undefined when this server creates it. */
export function creatorOf(
  actor: BotActor,
  profile: BotProfile,
  integrationName: string | undefined,
): CreatingIntegration | undefined {
  if (integrationName === undefined || aliasOf(actor) !== undefined) return undefined
  const alias = profile.aliasFor(integrationName)
  const installed = profile.installationOf(alias)
  return installed?.declares === undefined ? undefined : { ...installed, alias }
}

/**
 * The tags to send to an integration, under the names that it declares.
 * @throws ApiError unless it allows bots to create such objects and the required tags are given
 */
export function creationTags(
  { alias }: CreatingIntegration,
  what: string,
  creation: Creation,
  given: Readonly<Record<string, string | null>>,
): Record<string, string> {
  if (!creation.enabled) {
    throw new ApiError(
      'Forbidden',
      `body.integrationName: ${alias} does not let bots create ${what}; call one of its actions.`,
      { metadata: { in: 'body', field: 'integrationName' } },
    )
  }
  const tags: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value) tags[name.startsWith(`${alias}:`) ? name.slice(alias.length + 1) : name] = value
  }
  const missing = creation.requiredTags.find((name) => !Object.hasOwn(tags, name))
  if (missing === undefined) return tags
  throw fieldError(`body.tags.${missing}`, `is required by ${alias} for ${what}.`)
}

export interface RemoteCreatorDeps extends CallDeps, IntegrationTargetDeps {}

const members = { create_user: 'user', create_conversation: 'conversation' } as const

/** Older integration definitions still allow this; newer ones declare actions instead. */
export function createRemoteCreator(deps: RemoteCreatorDeps): RemoteCreator {
  return {
    async create({ botId, alias }, operation, body) {
      const target = await findIntegrationTarget(deps, { botId, integration: alias })
      if (target === undefined) {
        throw new ApiError(
          'Runtime',
          `body.integrationName: ${alias} is switched off, or has no address to be called at.`,
        )
      }
      const response = await requireResponse(deps, target, operation, body)
      const member = members[operation]
      const id = idIn(response, member)
      if (id !== undefined) return id
      throw new ApiError(
        'Runtime',
        `${alias} did not return {"${member}": {"id": "..."}}, as ${operation} asks for.`,
      )
    },
  }
}

function idIn(body: Buffer, member: string): string | undefined {
  const { id } = Object(Object(jsonOf(body))[member])
  return typeof id === 'string' ? id : undefined
}
