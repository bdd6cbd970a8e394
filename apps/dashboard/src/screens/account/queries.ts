import type { Client } from '@botstead/contract'
import { useQuery } from '@tanstack/react-query'
import { call, change, read } from '../../api/queries.js'
import type { CreationOptions, NewCredential } from '../../api/webauthn.js'

/** The limits of a new token; those of its owner where they are absent. */
export type NewToken = Parameters<Client['createPersonalAccessToken']>[0]

/** The account that is signed in. */
export type Account = Awaited<ReturnType<Client['getAccount']>>['account']

export function useAccount() {
  return useQuery(read({}, 'getAccount', {}))
}

/** How the account signs in. */
export function useSecurity() {
  return useQuery(read({}, 'getAccountSecurity', {}))
}

/** The passkeys of the account. */
export function usePasskeys() {
  return useQuery(read({}, 'listPasskeys', {}))
}

/** The tokens of the signed-in account, without their values. */
export function useTokens() {
  return useQuery(read({}, 'listPersonalAccessTokens', {}))
}

/** The browsers in which the account is signed in. */
export function useSessions() {
  return useQuery(read({}, 'listSessions', {}))
}

/** Changes of the account; each rejects with the refusal of the server. */
export function useAccountActions() {
  return {
    rename: async (displayName: string): Promise<void> => {
      await change({}, 'updateAccount', { displayName })
    },
    changeEmail: async (email: string, currentPassword: string): Promise<void> => {
      await change({}, 'changeAccountEmail', { email, ...given(currentPassword) })
    },
    removeAccount: async (currentPassword: string): Promise<void> => {
      await call({}, 'deleteAccount', given(currentPassword))
    },
    changePassword: async (password: string, currentPassword: string): Promise<void> => {
      await change({}, 'changePassword', { password, ...given(currentPassword) })
    },
    /** @returns the address of the provider, which leads back to the path */
    connectSingleSignOn: async (returnTo: string, currentPassword: string): Promise<string> =>
      (await call({}, 'connectSingleSignOn', { returnTo, ...given(currentPassword) })).url,
    disconnectSingleSignOn: async (currentPassword: string): Promise<void> => {
      await change({}, 'disconnectSingleSignOn', given(currentPassword))
    },
    /** Begins a second factor, which `confirmSecondFactor` puts into force. */
    startSecondFactor: async (currentPassword: string) =>
      await call({}, 'startSecondFactor', { currentPassword }),
    /** @returns recovery codes */
    confirmSecondFactor: async (code: string): Promise<string[]> =>
      (await change({}, 'confirmSecondFactor', { code })).recoveryCodes,
    /** @returns new recovery codes */
    renewRecoveryCodes: async (proof: Proof): Promise<string[]> =>
      (await change({}, 'renewRecoveryCodes', proof)).recoveryCodes,
    removeSecondFactor: async (proof: Proof): Promise<void> => {
      await change({}, 'removeSecondFactor', proof)
    },
    /** @returns what to ask the browser for, within five minutes */
    beginPasskey: async (proof: Partial<Proof>): Promise<CreationOptions> =>
      (await call({}, 'startPasskey', proof)).options,
    addPasskey: async (name: string, credential: NewCredential): Promise<void> => {
      await change({}, 'finishPasskey', { name, credential })
    },
    renamePasskey: async (id: string, name: string): Promise<void> => {
      await change({}, 'updatePasskey', { id, name })
    },
    removePasskey: async (id: string, currentPassword: string): Promise<void> => {
      await change({}, 'deletePasskey', { id, ...given(currentPassword) })
    },
    createToken: async (input: NewToken): Promise<string> => {
      const { pat } = await change({}, 'createPersonalAccessToken', input)
      return pat.value
    },
    removeToken: async (id: string): Promise<void> => {
      await change({}, 'deletePersonalAccessToken', { id })
    },
    endSession: async (id: string): Promise<void> => {
      await change({}, 'deleteSession', { id })
    },
    /** @returns how many were ended */
    endOtherSessions: async (): Promise<number> =>
      (await change({}, 'deleteOtherSessions', {})).ended,
  }
}

/** The password and a code, for what a stolen session must not do. */
interface Proof {
  currentPassword: string
  code: string
}

function given(currentPassword: string): { currentPassword?: string } {
  return currentPassword === '' ? {} : { currentPassword }
}
