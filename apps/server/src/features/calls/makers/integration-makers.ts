import { ApiError } from '@botstead/contract'
import { askReceiver, type CallDeps } from '../requests/index.js'
import { findIntegrationTarget, type IntegrationTargetDeps } from '../targets/index.js'
import type { Makers } from './makers.js'

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
