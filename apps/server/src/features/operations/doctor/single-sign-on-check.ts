import type { Config } from '../../../config/config.js'
import { systemClock } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { createAddressRules } from '../../../platform/outgoing/address-rules.js'
import { createOutgoing } from '../../../platform/outgoing/outgoing.js'
import { checkProvider } from '../../tenancy/sign-in/index.js'
import { findWorkspace } from '../../tenancy/workspaces/index.js'
import { type Finding, failed, ok } from './finding.js'

/** Reads the documents of the provider. Nobody is signed in. */
export async function checkSingleSignOn({ singleSignOn, outgoing }: Config): Promise<Finding[]> {
  if (singleSignOn === undefined) {
    return [ok('none: people sign in with passwords (BOTSTEAD_OIDC_ISSUER)')]
  }
  await using others = createOutgoing({ rules: createAddressRules(outgoing) })
  const fault = await checkProvider({ clock: systemClock, config: singleSignOn, outgoing: others })
  if (fault === undefined) return [ok(`${singleSignOn.issuer} can be used`)]
  return [
    failed(fault, 'Correct BOTSTEAD_OIDC_ISSUER, or the provider: nobody can sign in with it.'),
  ]
}

/** Looks for the workspace of those whom the provider signs in for the first time. */
export async function checkNewcomers(db: Db, { singleSignOn }: Config): Promise<Finding[]> {
  const id = singleSignOn?.workspaceId
  if (id === undefined || (await findWorkspace(db, id)) !== undefined) return []
  return [
    failed(
      `There is no workspace ${id}, which newcomers join: whoever has no account is refused.`,
      'Correct BOTSTEAD_OIDC_WORKSPACE.',
    ),
  ]
}
