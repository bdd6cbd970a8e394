import type { ClientAuth, Configuration, CustomFetchOptions, IDToken } from 'openid-client'
import type { ProviderConfig } from '../../../config/single-sign-on-settings.js'
import type { Clock } from '../../../platform/clock.js'
import { createAddressRules } from '../../../platform/outgoing/address-rules.js'
import {
  createOutgoing,
  type Outgoing,
  OutgoingError,
} from '../../../platform/outgoing/outgoing.js'

/** A person as the provider knows them. */
export interface Identity {
  issuer: string
  subject: string
  /** In lower case; undefined unless the provider has verified it. */
  email: string | undefined
  /** At most 200 characters in one line. */
  name: string | undefined
}

/** Values that the response to a sign-in has to match. */
export interface Expected {
  state: string
  nonce: string
  /** Proof of the exchange (PKCE). */
  verifier: string
}

/** A sign-in with the provider failed; the message is for the person. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  /** Whether the provider did not respond, rather than refuse the person. */
  readonly isAway: boolean
  /** For the operator: it may name addresses of the inner network. */
  readonly detail: string | undefined

  constructor(
    message: string,
    { isAway = false, detail, cause }: { isAway?: boolean; detail?: string; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.isAway = isAway
    this.detail = detail
  }
}

export type Provider = ReturnType<typeof createProvider>

export interface ProviderDeps {
  clock: Pick<Clock, 'now'>
  config: ProviderConfig
  /** For addresses of other servers than the issuer, which its documents name. */
  outgoing: Pick<Outgoing, 'send'>
}

/** Milliseconds for which the documents of the provider are believed. */
const documentLifetime = 60 * 60 * 1000
/** Milliseconds for each request, from the call to the end of its response. */
const requestMs = 8000
const maxResponseBytes = 256 * 1024

/** The provider of identities, whose documents are read when somebody signs in. */
export function createProvider({ clock, config, outgoing }: ProviderDeps) {
  const { issuer, name } = config
  // The operator named this address, which is often one of the own network.
  const toIssuer = createOutgoing({
    rules: createAddressRules({ allowed: 'any', allowLoopback: true }),
    connectionsPerOrigin: 8,
  })
  let known: { read: Promise<Configuration>; until: number } | undefined

  async function send(address: string, { method, headers, body }: CustomFetchOptions) {
    const isOwn = new URL(address).origin === new URL(issuer).origin
    const response = await (isOwn ? toIssuer : outgoing).send(address, {
      method: method as 'GET' | 'POST',
      headers,
      ...(body != null && { body: String(body) }),
      timeoutMs: requestMs,
      maxResponseBytes,
    })
    if (response.cut) throw new Error(`it sent more than ${maxResponseBytes / 1024} KB`)
    const given = new Headers()
    for (const [key, value] of Object.entries(response.headers)) {
      if (value !== undefined) given.set(key, String(value))
    }
    const hasBody = ![204, 205, 304].includes(response.status)
    return new Response(hasBody ? new Uint8Array(response.body) : null, {
      status: response.status,
      headers: given,
    })
  }

  async function read(): Promise<Configuration> {
    // Loaded by the first sign-in.
    const client = await import('openid-client')
    const { clientId, clientSecret } = config
    return await client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === undefined ? client.None() : authentication(client, clientSecret),
      {
        [client.customFetch]: send,
        // Those of `send` are shorter.
        timeout: 2 * (requestMs / 1000),
        execute: [
          client.enableNonRepudiationChecks,
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
      },
    )
  }

  /** The documents of the provider; those that could not be read are read again by the next sign-in. */
  async function documents(): Promise<Configuration> {
    if (known === undefined || known.until <= clock.now()) {
      const reading = { read: read(), until: clock.now() + documentLifetime }
      known = reading
      reading.read.catch(() => {
        if (known === reading) known = undefined
      })
    }
    return await known.read
  }

  return {
    config,

    /** Reads the documents of the provider. @throws ProviderError */
    async check(): Promise<void> {
      await documents().catch((error: unknown) => {
        throw explain(name, error)
      })
    },

    /**
     * The address at which the person signs in.
     * @param asksAnew whether the provider asks who the person is although it knows: somebody else may have used the browser
     * @throws ProviderError
     */
    async begin(
      returnTo: string,
      { state, nonce, verifier }: Expected,
      asksAnew: boolean,
    ): Promise<string> {
      try {
        const client = await import('openid-client')
        const address = client.buildAuthorizationUrl(await documents(), {
          redirect_uri: returnTo,
          scope: 'openid email profile',
          response_type: 'code',
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(asksAnew && { prompt: 'login' }),
        })
        return address.href
      } catch (error) {
        throw explain(name, error)
      }
    },

    /** The person who came back. @param address with what the provider added @throws ProviderError */
    async finish(address: URL, { state, nonce, verifier }: Expected): Promise<Identity> {
      try {
        const client = await import('openid-client')
        const provider = await documents()
        const tokens = await client.authorizationCodeGrant(provider, address, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (claims === undefined) throw new Error('it sent no identity')
        const { userinfo_endpoint: more } = provider.serverMetadata()
        if (claims.email !== undefined || more === undefined) return toIdentity(claims, claims)
        const facts = await client.fetchUserInfo(provider, tokens.access_token, claims.sub)
        return toIdentity(claims, facts)
      } catch (error) {
        throw explain(name, error)
      }
    },

    close: async () => await toIssuer[Symbol.asyncDispose](),
  }
}

/** Sends the secret in the way that the provider accepts: in a header, unless it only names the body. */
function authentication(client: typeof import('openid-client'), secret: string): ClientAuth {
  return (server, ...rest) => {
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isBody = !ways.includes('client_secret_basic') && ways.includes('client_secret_post')
    const send = isBody ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret)
    send(server, ...rest)
  }
}

function toIdentity({ iss, sub }: IDToken, facts: Record<string, unknown>): Identity {
  if (!/^[\x20-\x7e]{1,255}$/.test(sub)) throw new Error('the id of the person is not valid')
  const { email, email_verified: verified, name } = facts
  // Some providers send it as a text.
  const isVerified = verified === true || verified === 'true'
  const isAddress =
    typeof email === 'string' && /^[^\s@\p{Cc}\p{Cf}]+@[^\s@\p{Cc}\p{Cf}]+$/u.test(email)
  // Some other letters have a lower case that is one of ASCII: they would make the address that of somebody else.
  const isPlain = isAddress && email.toLowerCase() === email.replaceAll(/[A-Z]/g, toLower)
  const shown = typeof name === 'string' ? printable(name).trim() : ''
  return {
    issuer: iss,
    subject: sub,
    email: isVerified && isPlain && email.length <= 320 ? email.toLowerCase() : undefined,
    name: shown === '' ? undefined : shown,
  }
}

const toLower = (text: string) => text.toLowerCase()

/** Names the reason of a failure, and what to do next. */
function explain(name: string, error: unknown): ProviderError {
  const cause = error instanceof Error ? error : new Error(String(error))
  const away = causeOf(cause)
  if (away !== undefined) {
    const message = `${name} does not respond. Try again later, or sign in in another way.`
    return new ProviderError(message, { isAway: true, detail: away.message, cause })
  }
  const { error: refusal, error_description: why } = cause as Error & Record<string, unknown>
  if (refusal === 'access_denied') {
    return new ProviderError(`${name} did not sign you in: it was cancelled, or is not allowed.`, {
      cause,
    })
  }
  if (typeof refusal === 'string') {
    const more = typeof why === 'string' ? `, ${printable(why)}` : ''
    return new ProviderError(
      `${name} refused the sign-in (${printable(refusal)}${more}). Begin again.`,
      {
        cause,
      },
    )
  }
  return new ProviderError(
    `The response of ${name} was not accepted (${printable(rootOf(cause).message)}). Begin again; if that does not help, ask the operator of this server.`,
    { cause },
  )
}

/** The causes of an error, from itself to the first one. */
function* chain(error: Error): Generator<Error> {
  let each: unknown = error
  for (let depth = 0; depth < 5 && each instanceof Error; depth++) {
    yield each
    each = each.cause
  }
}

const causeOf = (error: Error): OutgoingError | undefined =>
  [...chain(error)].find((each) => each instanceof OutgoingError)

const rootOf = (error: Error): Error => [...chain(error)].at(-1) ?? error

function printable(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 200)
}
