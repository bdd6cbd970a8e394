import { ApiError } from '@botstead/contract'
import type { RawRequest } from '../../../http/raw-routes.js'
import { storableText } from '../../../platform/db/columns.js'

/** A request from outside as an integration gets it, except for its path. */
export interface OutsideRequest {
  method: string
  /** As received, without the question mark. */
  query: string
  headers: Record<string, string>
  body?: string
}

/** The addressee of a request, according to its URL. */
export type Addressee =
  /** One installation, by its webhook id. */
  | { to: 'installation'; webhookId: string; path: string }
  /** The setup of an installation, by the webhook id in `state`: services send browsers back to one address for all. */
  | { to: 'setup'; webhookId: string; path: string }
  /** The end of a setup: a page of this server. */
  | { to: 'end' }
  /** One of the installations of an integration: its scripts say which. */
  | { to: 'shared'; segments: readonly string[]; rest: string }

/**
 * The addresses below the one that integrations know as `BP_WEBHOOK_URL`, `<base>/webhooks`, and those that they make of it:
 * at the root of its origin, and with its first `webhook` replaced by `app`.
 */
export const addresses = [
  '/webhooks/:webhookId',
  '/webhooks/:webhookId/*',
  '/oauth',
  '/oauth/*',
  '/integration/global/*',
  '/app/oauth/interstitial',
  '/apps/oauth/interstitial',
]

/** Segments after `/integration/global/` that may be a name: a handle, and a name below it. */
const maxNameSegments = 2

/** Reads the address of a request. What belongs to the integration is neither decoded nor normalised. */
export function addresseeOf(url: string): { addressee: Addressee; query: string } {
  const [, pathname = '', query = ''] = /^([^?]*)(?:\?(.*))?$/s.exec(url) ?? []
  const [, prefix = '', rest = ''] = /^\/+(webhooks|apps?)?(?:\/+)?(.*)$/s.exec(pathname) ?? []
  const [, first = '', path = ''] = /^([^/]*)(.*)$/s.exec(rest) ?? []
  if (first === 'oauth') {
    const isEnd = prefix.startsWith('app') || /^\/+interstitial\/*$/.test(path)
    if (isEnd) return { addressee: { to: 'end' }, query }
    const webhookId = storableText(new URLSearchParams(query).get('state') ?? '')
    return { addressee: { to: 'setup', webhookId, path: `/oauth${path}` }, query }
  }
  const shared = /^\/+global\/+(.*)$/s.exec(path)?.[1]
  if (first === 'integration' && shared !== undefined) {
    const segments = shared.split('/').slice(0, maxNameSegments).map(decode)
    return { addressee: { to: 'shared', segments, rest: shared }, query }
  }
  const whole = path === '' ? '/' : path
  return { addressee: { to: 'installation', webhookId: decode(first), path: whole }, query }
}

/** The path behind the first segments of one, with a slash before it. */
export function pathAfter(segments: number, path: string): string {
  const rest = path.split('/').slice(segments)
  return `/${rest.join('/')}`
}

/** The part of a request that integrations and scripts get. Throws `UnsupportedMediaType` for a body that is no text. */
export function outsideRequestOf(
  { method, headers, body }: RawRequest,
  query: string,
): OutsideRequest {
  return { method, query, headers, ...(body && { body: textOf(body) }) }
}

function decode(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw new ApiError(
      'UnsupportedMediaType',
      'The body of a webhook must be text in UTF-8: integrations are called with texts only.',
    )
  }
}
