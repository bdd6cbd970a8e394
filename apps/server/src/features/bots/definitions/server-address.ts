import { ApiError } from '@botstead/contract'

const httpAddress = /^https?:\/\/[^/]/i

/** Whether a text is an address that can be called. */
export function isHttpAddress(text: string): boolean {
  return httpAddress.test(text) && URL.canParse(text)
}

/** Checks where a bot or an integration is to be called; null and undefined are nowhere. */
export function requireServerAddress(url: string | null | undefined): void {
  if (url === null || url === undefined || isHttpAddress(url)) return
  throw new ApiError(
    'InvalidDataFormat',
    'body.url must be an http or https address such as https://bots.example.com/guide.',
    { metadata: { in: 'body', field: 'url' } },
  )
}
