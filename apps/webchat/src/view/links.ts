/** Schemes that links of messages may have. */
const linkSchemes = ['http:', 'https:', 'mailto:', 'tel:']
/** Schemes of pictures, recordings and videos; media elements run no scripts. */
const mediaSchemes = ['http:', 'https:', 'data:', 'blob:']

/** The normalized address of a link in untrusted content; undefined unless its scheme is allowed. */
export function safeLink(text: unknown): string | undefined {
  return normalize(text, linkSchemes)
}

/** The same for a picture, recording or video. */
export function safeMedia(text: unknown): string | undefined {
  return normalize(text, mediaSchemes)
}

function normalize(text: unknown, allowed: readonly string[]): string | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const { protocol, href } = new URL(text)
    return allowed.includes(protocol) ? href : undefined
  } catch {
    return undefined
  }
}
