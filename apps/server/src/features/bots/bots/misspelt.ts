import { ApiError, installationMembers } from '@botstead/contract'
import { nearest } from '../../../platform/nearest.js'

/** Members in lower case, by which slips in the case of letters are found too. */
const members: ReadonlyMap<string, string> = new Map(
  installationMembers.map((name) => [name.toLowerCase(), name]),
)
/** Longer names are no slips. */
const longestSlip = 50

/**
 * Refuses a member of an installation that is nearly one of those that change it. Members that mean
 * nothing are passed over elsewhere; here a slip would leave a chat open that its owner believes closed.
 * @param field where the installation stands in the body
 */
export function refuseMisspelt(patch: object, field: string): void {
  for (const name of Object.keys(patch)) {
    if (name.length > longestSlip || installationMembers.includes(name)) continue
    const meant = members.get(nearest(name.toLowerCase(), [...members.keys()]) ?? '')
    if (meant === undefined) continue
    throw new ApiError(
      'InvalidPayload',
      `${field}.${name} is no member of an installation. Did you mean ${meant}?`,
    )
  }
}
