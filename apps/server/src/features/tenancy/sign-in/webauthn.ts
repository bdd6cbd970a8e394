import { isIP } from 'node:net'
import { ApiError, type Body, type contract } from '@botstead/contract'
import { decodeJson } from '../../../platform/db/columns.js'
import type { PasskeyRow } from './passkey-store.js'

/** The server as browsers name it when they make and use passkeys. */
export interface RelyingParty {
  /** Host name that passkeys are made for. */
  id: string
  /** The only origin whose pages may use them. */
  origin: string
}

/** A credential that a device made. */
export interface NewCredential {
  credentialId: string
  /** COSE key in base64url. */
  publicKey: string
  counter: number
  isSyncable: boolean
  isBackedUp: boolean
}

/** A proof that a device gave. */
export interface Proof {
  counter: number
  isBackedUp: boolean
}

/** Kinds of keys as COSE numbers them, the best first: Ed25519, ECDSA on P-256, RSA. All devices have one of them. */
export const algorithms: readonly number[] = [-8, -7, -257]

/**
 * The relying party at the public address of the server; undefined where browsers permit none: they want a name and https, or
 * `localhost`. What a proxy says of the address does not count, because a caller may have written it.
 */
export function relyingPartyAt(base: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(base)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isAddress = isIP(hostname) !== 0 || hostname.startsWith('[')
  if (isAddress || (protocol !== 'https:' && !isLocal)) return undefined
  return { id: hostname, origin }
}

/** @throws ApiError that says what the operator has to change */
export function requireRelyingParty(base: string): RelyingParty {
  const party = relyingPartyAt(base)
  if (party !== undefined) return party
  throw new ApiError(
    'ResourceNotFound',
    `Passkeys are not available at ${new URL(base).origin}: browsers require https and a host name, or localhost. Set BOTSTEAD_PUBLIC_URL to such an address.`,
  )
}

/** The challenge that a browser had signed; empty if there is none. */
export function challengeIn(clientDataJSON: string): string {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'))
    const challenge = Object(data).challenge
    return typeof challenge === 'string' ? challenge : ''
  } catch {
    return ''
  }
}

/** Checks what a device returned for a new passkey. @throws ApiError if it is invalid */
export async function verifyNewCredential(
  { id: rpId, origin }: RelyingParty,
  challenge: string,
  { id, response }: Body<typeof contract.passkeys.finish>['credential'],
): Promise<NewCredential> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { clientDataJSON, attestationObject } = response
  await refuseUnexpected(attestationObject)
  const result = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, attestationObject },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...algorithms],
  }).catch(refuseAs('InvalidPayload'))
  if (!result.verified) throw notAccepted('InvalidPayload', 'its signature is wrong')
  const { credential, credentialDeviceType, credentialBackedUp } = result.registrationInfo
  if (credential.id !== id) throw notAccepted('InvalidPayload', 'its id is not that of its key')
  return {
    credentialId: id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    isSyncable: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  }
}

/**
 * Refuses what was not asked for, before the library uses it: certificates of the maker of a device, for which it may load lists
 * of revoked ones from addresses that they name, and keys of other types, such as a number for bytes, of which it allocates as many.
 */
async function refuseUnexpected(attestationObject: string): Promise<void> {
  const { decodeAttestationObject, decodeCredentialPublicKey, parseAuthenticatorData } =
    await import('@simplewebauthn/server/helpers')
  const bytes = new Uint8Array(Buffer.from(attestationObject, 'base64url'))
  let isOwn: boolean
  let isKnownKey: boolean
  try {
    const attestation = decodeAttestationObject(bytes)
    const format = attestation.get('fmt')
    isOwn =
      format === 'none' ||
      (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
    const { credentialPublicKey } = parseAuthenticatorData(attestation.get('authData'))
    isKnownKey =
      credentialPublicKey !== undefined && isKey(decodeCredentialPublicKey(credentialPublicKey))
  } catch (error) {
    throw refuseAs('InvalidPayload')(error)
  }
  if (!isOwn) {
    throw notAccepted(
      'InvalidPayload',
      'it has an attestation of its maker, which was not asked for',
    )
  }
  if (!isKnownKey) {
    throw notAccepted('InvalidPayload', 'its key is not of a kind that was asked for')
  }
}

/** Whether a COSE key is complete, and of one of the `algorithms`. */
function isKey(key: unknown): boolean {
  if (!(key instanceof Map)) return false
  const has = (fields: Record<number, number>) =>
    Object.entries(fields).every(([label, value]) => key.get(Number(label)) === value)
  const hasBytes = (label: number, min: number, max = min) => {
    const value: unknown = key.get(label)
    return value instanceof Uint8Array && value.length >= min && value.length <= max
  }
  return (
    (has({ 1: 1, 3: -8, [-1]: 6 }) && hasBytes(-2, 32)) ||
    (has({ 1: 2, 3: -7, [-1]: 1 }) && hasBytes(-2, 32) && hasBytes(-3, 32)) ||
    // 2048 to 4096 bits, with an exponent that is checked fast.
    (has({ 1: 3, 3: -257 }) && hasBytes(-1, 256, 512) && hasBytes(-2, 1, 4))
  )
}

/**
 * Checks the proof of a device against a passkey, except for its counter, which the caller compares under the lock.
 * @throws ApiError if it is invalid
 */
export async function verifyProof(
  { id: rpId, origin }: RelyingParty,
  challenge: string,
  { id, response }: Body<typeof contract.passkeys.signIn>['credential'],
  passkey: PasskeyRow,
): Promise<Proof> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  const result = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature, userHandle },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    credential: {
      id,
      publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
      counter: 0,
      transports: decodeJson(passkey.transports),
    },
  }).catch(refuseAs('Unauthorized'))
  if (!result.verified) throw notAccepted('Unauthorized', 'its signature is wrong')
  const { newCounter, credentialBackedUp } = result.authenticationInfo
  return { counter: newCounter, isBackedUp: credentialBackedUp }
}

/** `Unauthorized` for a sign-in, and `InvalidPayload` for a passkey that is added. */
export type RefusalType = 'Unauthorized' | 'InvalidPayload'

/** The error for a credential in the body, which is at fault. */
export function refusalOf(type: RefusalType, message: string, cause?: unknown): ApiError {
  return new ApiError(type, message, { metadata: { in: 'body', field: 'credential' }, cause })
}

function notAccepted(type: RefusalType, reason: string, cause?: unknown): ApiError {
  return refusalOf(type, `The passkey was not accepted: ${reason}.`, cause)
}

/** Errors of the language itself are about the code of the library, which met something malformed: their messages say nothing to people. */
function refuseAs(type: RefusalType) {
  return (error: unknown): never => {
    const isOfLanguage = [TypeError, RangeError, SyntaxError].some((kind) => error instanceof kind)
    const reason = error instanceof Error && !isOfLanguage ? error.message : 'it is malformed'
    throw notAccepted(type, reason, error)
  }
}
