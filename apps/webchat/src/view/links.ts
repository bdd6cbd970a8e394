/** Schemes that links of messages may have. */
const schemes = ['http:', 'https:', 'mailto:']
/** Schemes of pictures, recordings and videos: what they load cannot run. */
const mediaSchemes = ['http:', 'https:', 'data:', 'blob:']

/** The address of a link that somebody else wrote; undefined if it is none that may be opened. */
export function safeLink(text: unknown): string | undefined {
  return safe(text, schemes)
}

/** The address of a picture, recording or video that somebody else wrote. */
export function safeMedia(text: unknown): string | undefined {
  return safe(text, mediaSchemes)
}

function safe(text: unknown, allowed: readonly string[]): string | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const { protocol, href } = new URL(text)
    return allowed.includes(protocol) ? href : undefined
  } catch {
    return undefined
  }
}
