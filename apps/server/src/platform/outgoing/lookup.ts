import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressRules } from './address-rules.js'
import { OutgoingError } from './errors.js'

/**
 * Resolves a name for the connection that is about to be made, and leaves only addresses that may be
 * called. The connection goes to what was checked: a name that answers differently the next time
 * (DNS rebinding) wins nothing.
 */
export function guardedLookup(rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const permitted = addresses.filter(({ address }) => rules.permits(address))
      const [first] = permitted
      if (first === undefined) return callback(refusal(hostname, addresses), [])
      if (options.all) callback(null, permitted)
      else callback(null, first.address, first.family)
    })
  }
}

/** Says which address was refused and what an operator can do. */
export function refusal(hostname: string, addresses: readonly LookupAddress[]): OutgoingError {
  const [first] = addresses
  const resolved = first && first.address !== hostname ? ` (${first.address})` : ''
  return new OutgoingError(
    'refused',
    `${hostname}${resolved} is not a public address. Name its network in BOTSTEAD_ALLOWED_NETWORKS if it shall be called.`,
  )
}
