import { ApiError } from '@botstead/contract'

/** Begins the host of an origin that stands for all subdomains of a host. */
const wildcard = '*.'

/** Hosts as browsers write them; also what a policy for frames may contain without being changed by it. */
const host = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/

/**
 * Returns origins as browsers write them, each once.
 * Throws `InvalidPayload` for what is no origin of a web site.
 */
export function normalizeOrigins(given: readonly string[]): string[] {
  return [...new Set(given.map((text, at) => normalize(text, `body.allowedOrigins.${at}`)))]
}

function normalize(text: string, field: string): string {
  const [, scheme, star = '', rest = ''] = /^(https?:\/\/)(\*\.)?([^/?#@\s]+)$/i.exec(text) ?? []
  const url = scheme === undefined ? undefined : parse(`${scheme}${rest}`)
  if (scheme === undefined || url === undefined || !host.test(url.hostname)) {
    throw refusal(field, 'must be a scheme, a host and perhaps a port, without a path')
  }
  if (star !== '' && !/[a-z]$/.test(url.hostname)) {
    throw refusal(field, 'must have a name after *., because an address has no subdomains')
  }
  if (star !== '' && !url.hostname.includes('.')) {
    throw refusal(field, 'must have at least two names after *.')
  }
  return `${url.protocol}//${star}${url.host}`
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function refusal(field: string, rule: string): ApiError {
  return new ApiError(
    'InvalidPayload',
    `${field} ${rule}, such as https://shop.example.com, https://*.example.com or http://localhost:3000.`,
    { metadata: { in: 'body', field: field.slice('body.'.length) } },
  )
}

/** Whether a page of an origin may use a chat; without allowed origins all may. */
export function isAllowedOrigin(allowed: readonly string[], origin: string): boolean {
  if (allowed.length === 0 || allowed.includes(origin)) return true
  return allowed.some((each) => {
    const [scheme = '', domain] = each.split(wildcard)
    return (
      domain !== undefined &&
      origin.startsWith(scheme) &&
      origin.endsWith(`.${domain}`) &&
      origin.length > scheme.length + domain.length + 1
    )
  })
}
