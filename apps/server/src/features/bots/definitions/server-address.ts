import { ApiError } from '@botstead/contract'

const httpAddress = /^https?:\/\/[^/]/i

/** Whether a text is an address that can be called. */
export function isHttpAddress(text: string): boolean {
  return httpAddress.test(text) && URL.canParse(text)
}

/**
 * Throws unless the address of a bot or an integration can be called; null and undefined mean no
 * address.
 */
export function requireServerAddress(url: string | null | undefined): void {
  if (url === null || url === undefined || isHttpAddress(url)) return
  throw new ApiError(
    'InvalidDataFormat',
    'body.url must be an http or https address such as https://bots.example.com/guide.',
    { metadata: { in: 'body', field: 'url' } },
  )
}
