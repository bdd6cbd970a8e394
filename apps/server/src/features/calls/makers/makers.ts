import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { aliasOf } from '../../../domain/caller.js'
import type { Audience, InstalledAs } from '../../bots/bots/index.js'
import type { Creation } from '../../bots/integrations/index.js'

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
  audience: Audience,
  integrationName: string | undefined,
): Maker | undefined {
  if (integrationName === undefined || aliasOf(actor) !== undefined) return undefined
  const alias = audience.aliasFor(integrationName)
  const installed = audience.installationOf(alias)
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
