import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SignJWT } from 'jose'
import type { AccountClaims, Configuration, Provider } from 'oidc-provider'

/** A person with an account at a provider. */
export interface PersonAtProvider {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
}

/** The name and secret of the server under test at each provider of tests. */
export const registered = { clientId: 'botstead', clientSecret: 'the secret of the server, long' }

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stated = { kid: 'one', alg: 'ES256', use: 'sig' }

export interface IdentityProvider extends AsyncDisposable {
  issuer: string
  /** Whoever is at the keyboard; their button signs them in. */
  person: PersonAtProvider
  /** Names the server under test, once its address is known. */
  register(url: string): Promise<void>
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Listens on a free port of this machine. */
async function listen(handle: Handler) {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A real provider of identities, whose sign-in is a page with one button. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  let handle: Handler = (_, response) => response.writeHead(503).end()
  const listening = await listen((request, response) => handle(request, response))
  const provided: IdentityProvider = {
    issuer: listening.address,
    person: { sub: 'nobody' },
    async register(url) {
      const people = new Map<string, PersonAtProvider>()
      const provider = await createProvider(listening.address, configurationFor(url, people))
      const answer = provider.callback()
      handle = (request, response) => {
        const [, uid] = /^\/interaction\/([\w-]+)$/.exec(request.url ?? '') ?? []
        if (uid === undefined) {
          answer(request, response)
          return
        }
        const { person } = provided
        if (request.method === 'GET') {
          response.setHeader('content-type', 'text/html')
          response.end(
            `<!doctype html><html lang="en"><title>Provider</title><form method="post"><button>Continue as ${person.name ?? person.sub}</button></form></html>`,
          )
          return
        }
        people.set(person.sub, person)
        provider
          .interactionFinished(request, response, { login: { accountId: person.sub } })
          .catch(() => response.writeHead(500).end())
      }
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  }
  return provided
}

/** Without its warnings, which are for those who run it for people. */
async function createProvider(issuer: string, configuration: Configuration): Promise<Provider> {
  const { warn } = console
  console.warn = () => {}
  try {
    const { Provider } = await import('oidc-provider')
    return new Provider(issuer, configuration)
  } finally {
    console.warn = warn
  }
}

function configurationFor(url: string, people: Map<string, PersonAtProvider>): Configuration {
  return {
    clients: [
      {
        client_id: registered.clientId,
        client_secret: registered.clientSecret,
        redirect_uris: [`${url}/dashboard/sso`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), ...stated }] },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ ...people.get(sub), sub }) satisfies AccountClaims,
    }),
    async loadExistingGrant({ oidc }) {
      const { client, session, provider } = oidc
      const grant = new provider.Grant({
        ...(client && { clientId: client.clientId }),
        ...(session?.accountId !== undefined && { accountId: session.accountId }),
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}

/** Behaviour of a hostile provider, which tests change. */
export interface Hostile extends AsyncDisposable {
  issuer: string
  /** Fields of its discovery document, instead of the right ones. */
  metadata: Record<string, unknown>
  /** Claims of the identity that it signs. */
  claims: Record<string, unknown>
  /** Paths that do something else. */
  instead: Record<string, Handler>
  /** The requests that came, as method and path. */
  requests: string[]
}

/** A provider that says what a test wants, with a right signature. */
export async function startHostileProvider(): Promise<Hostile> {
  const listening = await listen(async (request, response) => {
    const path = request.url ?? ''
    hostile.requests.push(`${request.method} ${path}`)
    const other = hostile.instead[path]
    if (other !== undefined) {
      other(request, response)
      return
    }
    await text(request)
    const body = await answer(path)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? {}))
  })
  const { address: issuer } = listening
  const hostile: Hostile = {
    issuer,
    metadata: {},
    claims: {},
    instead: {},
    requests: [],
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  }

  async function answer(path: string): Promise<object | undefined> {
    if (path === '/.well-known/openid-configuration') {
      return {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['ES256'],
        authorization_response_iss_parameter_supported: true,
        ...hostile.metadata,
      }
    }
    if (path === '/jwks') return { keys: [{ ...publicKey.export({ format: 'jwk' }), ...stated }] }
    if (path !== '/token') return undefined
    const seconds = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      aud: registered.clientId,
      iat: seconds,
      exp: seconds + 300,
      ...hostile.claims,
    }
    const id_token = await new SignJWT(claims).setProtectedHeader(stated).sign(privateKey)
    return { access_token: 'one', token_type: 'Bearer', id_token }
  }

  return hostile
}
