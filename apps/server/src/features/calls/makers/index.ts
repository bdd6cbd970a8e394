import { ApiError } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import type { BotProfile, InstalledAs } from '../../bots/bots/index.js'
import type { Creation } from '../../bots/integrations/index.js'
import { askReceiver, type CallDeps } from '../requests/index.js'
import { findIntegrationTarget, type IntegrationTargetDeps } from '../targets/index.js'

/** Makes users and conversations that only an integration can make. */
export interface Makers {
  /**
   * Has an integration make a user or a conversation for a bot, and answers its id.
   * @throws ApiError `Runtime` with what the integration says went wrong
   */
  make(
    place: { botId: string; alias: string },
    operation: 'create_user' | 'create_conversation',
    body: { tags: Record<string, string>; channel?: string },
  ): Promise<string>
}

/** The integration with a server of its own that a bot names to make something there. */
export type Maker = InstalledAs & { alias: string }

/** Who is to make what a caller asks for; undefined when this server does. */
export function makerOf(
  actor: BotActor,
  profile: BotProfile,
  integrationName: string | undefined,
): Maker | undefined {
  if (integrationName === undefined || aliasOf(actor) !== undefined) return undefined
  const alias = profile.aliasFor(integrationName)
  const installed = profile.installationOf(alias)
  return installed?.declares === undefined ? undefined : { ...installed, alias }
}

/**
 * The tags that an integration gets, under its own names.
 * Throws unless it lets bots make such things, and with these tags.
 */
export function tagsFor(
  { alias }: Maker,
  what: string,
  creation: Creation,
  given: Readonly<Record<string, string | null>>,
): Record<string, string> {
  if (!creation.enabled) {
    throw new ApiError(
      'Forbidden',
      `body.integrationName: ${alias} does not let bots make ${what}; call one of its actions.`,
      { metadata: { in: 'body', field: 'integrationName' } },
    )
  }
  const tags: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value) tags[name.startsWith(`${alias}:`) ? name.slice(alias.length + 1) : name] = value
  }
  const missing = creation.requiredTags.find((name) => !Object.hasOwn(tags, name))
  if (missing === undefined) return tags
  throw new ApiError(
    'InvalidPayload',
    `body.tags.${missing} is required by ${alias} for ${what}.`,
    { metadata: { in: 'body', field: `tags.${missing}` } },
  )
}

export interface MakersDeps extends CallDeps, IntegrationTargetDeps {}

const members = { create_user: 'user', create_conversation: 'conversation' } as const

/** Has integrations make users and conversations for bots, as older definitions let them. */
export function createMakers(deps: MakersDeps): Makers {
  return {
    async make({ botId, alias }, operation, body) {
      const target = await findIntegrationTarget(deps, { botId, integration: alias })
      if (target === undefined) {
        throw new ApiError(
          'Runtime',
          `body.integrationName: ${alias} is switched off, or has no address to be called at.`,
        )
      }
      const answer = await askReceiver(deps, target, operation, body)
      const member = members[operation]
      const id = idIn(answer, member)
      if (id !== undefined) return id
      throw new ApiError(
        'Runtime',
        `${alias} did not answer with {"${member}": {"id": "..."}}, as ${operation} asks for.`,
      )
    },
  }
}

function idIn(body: Buffer, member: string): string | undefined {
  try {
    const { id } = Object(Object(JSON.parse(body.toString('utf8')))[member])
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
