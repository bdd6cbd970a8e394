import type { Config } from '../../../config/config.js'
import type { Db } from '../../../platform/db/schema.js'
import { listPasskeyHosts, relyingPartyAt } from '../../tenancy/sign-in/index.js'
import { type Finding, ok, warning } from './finding.js'

/** Whether browsers permit passkeys at the public address, and whether those that people have work there. */
export async function checkPasskeys(db: Db, { publicUrl }: Config): Promise<Finding[]> {
  const party = relyingPartyAt(publicUrl)
  const elsewhere = (await listPasskeyHosts(db)).filter(({ host }) => host !== party?.id)
  if (elsewhere.length > 0) {
    const lost = elsewhere.map(({ host, count }) => `${count} for ${host}`).join(', ')
    const here =
      party === undefined ? `none work at ${publicUrl}` : `only those for ${party.id} work`
    return [
      warning(
        `There are passkeys for other addresses (${lost}): ${here}.`,
        'Correct BOTSTEAD_PUBLIC_URL, or have people add new ones under My account.',
      ),
    ]
  }
  if (party !== undefined) return [ok(`they work at ${party.origin}`)]
  return [
    ok(
      `none: browsers permit them with https and a host name, not at ${new URL(publicUrl).origin}`,
    ),
  ]
}
