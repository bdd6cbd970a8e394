import type { Client } from '@botstead/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from './queries.js'

/** The ways in which people sign in to this server; undefined while they are not known. */
export function useSignInWays(): Awaited<ReturnType<Client['getSignInWays']>> | undefined {
  return useQuery(read({}, 'getSignInWays', {})).data
}
