import {
  type Kind,
  listOf,
  oneOf,
  optional,
  setting,
  text,
  url,
  type Values,
} from './setting-kinds.js'

/** The provider with whose accounts people may sign in. */
export interface ProviderConfig {
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  /** The provider as people know it. */
  readonly name: string
  /** Domains of addresses that may sign in; undefined for any. */
  readonly domains: readonly string[] | undefined
  /** Workspace that newcomers join; undefined to refuse people without an account. */
  readonly workspaceId: string | undefined
  readonly role: (typeof roles)[number]
}

/** Nobody becomes an owner or an administrator by signing in. */
const roles = ['viewer', 'billing', 'developer', 'manager'] as const

const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(host)

const issuer = url('an https address such as https://login.example.com', (given) => {
  const isSafe =
    given.protocol === 'https:' || (given.protocol === 'http:' && isLoopback(given.hostname))
  const { username, password, search, hash, pathname } = given
  // With the address of its documents, the issuer in them would not be compared.
  const isBare = !search && !hash && !username && !password && !pathname.includes('/.well-known/')
  return isSafe && isBare ? given.href : undefined
})

const domain: Kind<string> = {
  accepts: 'a domain such as example.com',
  parse: (given) => (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(given) ? given.toLowerCase() : undefined),
}

/** Sign-in with the accounts of a provider, by OpenID Connect. */
export const singleSignOnSettings = {
  issuer: optional('BOTSTEAD_OIDC_ISSUER', issuer, {
    default: 'none: no single sign-on',
    meaning:
      'Provider (OpenID Connect) with whose accounts people may sign in. Register BOTSTEAD_PUBLIC_URL followed by /dashboard/sso as redirect address there.',
  }),
  clientId: optional('BOTSTEAD_OIDC_CLIENT_ID', text('an id without spaces', /^\S{1,500}$/), {
    default: 'none; must be set together with BOTSTEAD_OIDC_ISSUER',
    meaning: 'Id of this server at the provider.',
  }),
  clientSecret: optional('BOTSTEAD_OIDC_CLIENT_SECRET', text('any text'), {
    default: 'none: a public client, with PKCE alone',
    meaning: 'Secret of this server at the provider.',
    secret: true,
  }),
  name: setting('BOTSTEAD_OIDC_NAME', text('1 to 50 characters', /^.{1,50}$/), {
    default: 'single sign-on',
    meaning: 'Name of the provider on the sign-in page: "Sign in with ...".',
  }),
  domains: optional('BOTSTEAD_OIDC_DOMAINS', listOf(domain), {
    default: 'any',
    meaning:
      'Domains of the verified email addresses that may sign in with the provider, separated by commas.',
  }),
  workspaceId: optional(
    'BOTSTEAD_OIDC_WORKSPACE',
    text('the id of a workspace', /^[\w-]{1,128}$/),
    {
      default: 'none: people without an account are refused',
      meaning:
        'Workspace that people join who sign in with the provider and have neither an account nor an invitation. Needs BOTSTEAD_OIDC_DOMAINS.',
    },
  ),
  role: setting('BOTSTEAD_OIDC_ROLE', oneOf(...roles), {
    default: 'viewer',
    meaning: 'Their role in it.',
  }),
}

/** @param problems gets a line for what is wrong */
export function readSingleSignOn(
  values: Values<typeof singleSignOnSettings>,
  problems: string[],
): ProviderConfig | undefined {
  const { issuer: address, clientId } = values
  if ((address === undefined) !== (clientId === undefined)) {
    problems.push(
      'BOTSTEAD_OIDC_ISSUER and BOTSTEAD_OIDC_CLIENT_ID must be set together, or neither.',
    )
  }
  const { clientSecret, domains, workspaceId } = values
  const isOrphan = clientSecret !== undefined || domains !== undefined || workspaceId !== undefined
  if (address === undefined && clientId === undefined && isOrphan) {
    problems.push('The settings BOTSTEAD_OIDC_... need BOTSTEAD_OIDC_ISSUER.')
  }
  if (workspaceId !== undefined && domains === undefined) {
    problems.push(
      'BOTSTEAD_OIDC_WORKSPACE needs BOTSTEAD_OIDC_DOMAINS: otherwise everybody with an account at the provider could join.',
    )
  }
  if (address === undefined || clientId === undefined) return undefined
  return Object.freeze({ ...values, issuer: address, clientId })
}
