import type { Client } from '@botstead/contract'

// Browsers of 2025 translate the options and results to JSON by themselves; these lines do it for older ones too.

export type CreationOptions = Awaited<ReturnType<Client['startPasskey']>>['options']
type RequestOptions = Awaited<ReturnType<Client['startPasskeySignIn']>>['options']
export type NewCredential = Parameters<Client['finishPasskey']>[0]['credential']
type Proof = Parameters<Client['signInWithPasskey']>[0]['credential']

/** Whether this browser has passkeys, on this page. */
export function hasPasskeys(): boolean {
  return isSecureContext && 'PublicKeyCredential' in window
}

/** Asks the device for a new passkey. @throws Error that says what to do */
export async function makePasskey(options: CreationOptions): Promise<NewCredential> {
  const publicKey: PublicKeyCredentialCreationOptions = {
    ...options,
    challenge: decode(options.challenge),
    user: { ...options.user, id: decode(options.user.id) },
    excludeCredentials: options.excludeCredentials.map(({ id, type }) => ({
      type,
      id: decode(id),
    })),
  }
  const made = await navigator.credentials.create({ publicKey }).catch((error: unknown) => {
    throw isCancelled(error) ? new Error('The request was cancelled or timed out.') : explain(error)
  })
  if (!(made instanceof PublicKeyCredential)) throw new Error('The browser made no passkey.')
  const { response, rawId } = made
  if (!(response instanceof AuthenticatorAttestationResponse)) {
    throw new Error('The browser made no passkey.')
  }
  return {
    id: encode(rawId),
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      attestationObject: encode(response.attestationObject),
      // Not in browsers of before 2023.
      transports: response.getTransports?.() ?? [],
    },
  }
}

/** Asks for the proof of a passkey, which the person chooses. @throws Error that says what to do */
export async function provePasskey(options: RequestOptions): Promise<Proof> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    ...options,
    challenge: decode(options.challenge),
  }
  const found = await navigator.credentials.get({ publicKey }).catch((error: unknown) => {
    // Browsers do not tell a cancelled request from one without a passkey, so that pages cannot find out who has one.
    const cause =
      'The request was cancelled or timed out, or this device has no passkey for this server.'
    throw isCancelled(error) ? new Error(cause) : explain(error)
  })
  if (!(found instanceof PublicKeyCredential)) throw new Error('The browser found no passkey.')
  const { response, rawId } = found
  if (!(response instanceof AuthenticatorAssertionResponse) || response.userHandle === null) {
    throw new Error('This key names no account: choose a passkey that was added here.')
  }
  return {
    id: encode(rawId),
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      authenticatorData: encode(response.authenticatorData),
      signature: encode(response.signature),
      userHandle: encode(response.userHandle),
    },
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name)
}

function explain(error: unknown): unknown {
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError') {
    return new Error('This device has a passkey of your account already.')
  }
  if (name === 'SecurityError') {
    return new Error('The browser permits no passkeys at this address of the server.')
  }
  if (name === 'NotSupportedError' || name === 'ConstraintError') {
    return new Error('This device makes no passkeys that check who uses them: choose another one.')
  }
  return error
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0))
}

function encode(buffer: ArrayBuffer): string {
  const bytes = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join('')
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
