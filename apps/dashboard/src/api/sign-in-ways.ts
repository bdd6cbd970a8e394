import type { Client } from '@botstead/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from './queries.js'
import { hasPasskeys } from './webauthn.js'

/** The ways in which people sign in to this server; undefined while they are not known. */
export function useSignInWays(): Awaited<ReturnType<Client['getSignInWays']>> | undefined {
  return useQuery(read({}, 'getSignInWays', {})).data
}

/** The address at which passkeys work, where it is another one than that of this page. */
export function useAddressOfPasskeys(): string | undefined {
  const origin = useSignInWays()?.passkeys?.origin
  return origin === location.origin ? undefined : origin
}

/** Why this page has no passkeys; undefined where it has. */
export function usePasskeysHere(): string | undefined {
  const ways = useSignInWays()
  if (ways === undefined) return 'Asking the server whether passkeys work here.'
  if (ways.passkeys === undefined) {
    return 'Browsers permit passkeys only at addresses with https and a name, or at localhost: the operator sets BOTSTEAD_PUBLIC_URL to such an address.'
  }
  if (ways.passkeys.origin !== location.origin) {
    return `Passkeys work at ${ways.passkeys.origin} only, which the server has as its address (BOTSTEAD_PUBLIC_URL): open the dashboard there.`
  }
  return hasPasskeys()
    ? undefined
    : 'This browser has no passkeys: use another one, or a newer one.'
}
