import { serverUrl } from '../api/client.js'

const contents = new URL(`${serverUrl}/content/`)

/** Schemes that a link of somebody else may have; a script is none of them. */
const schemes = ['http:', 'https:', 'mailto:', 'tel:', 'geo:']

/** The address of a link that somebody else wrote; undefined if it is none that may be opened. */
export function safeLink(text: string): string | undefined {
  const url = parse(text)
  return url !== undefined && schemes.includes(url.protocol) ? url.href : undefined
}

/** The address of the content of a file of this server; others are not loaded, only linked. */
export function ownContent(text: string): string | undefined {
  const url = parse(text)
  if (url === undefined || url.origin !== contents.origin) return undefined
  return url.pathname.startsWith(contents.pathname) ? url.href : undefined
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
