/** The public addresses that responses contain; none ends with a slash. */
export interface Addresses {
  /** Of the main interface. */
  base(): string
  /** Of chat: followed by `/<webhook id>`. */
  chat(): string
  /** Of pages and scripts with a web chat: followed by `/<webhook id>`. */
  webchat(): string
  /** Of integration webhooks: followed by `/<webhook id>`. */
  webhooks(): string
  /** Of the main interface for programs on this machine; the public one if this process serves none. */
  local(): string
}

/**
 * Addresses below a base that is read anew each time: a server that takes any free port knows its
 * address only once it listens.
 */
export function createAddresses(base: () => string, local: () => string = base): Addresses {
  return {
    base,
    local,
    chat: () => `${base()}/chat`,
    webchat: () => `${base()}/webchat`,
    webhooks: () => `${base()}/webhooks`,
  }
}

/** A text without the slashes at its end. A pattern for them would take minutes for a text that has many in its middle. */
export function withoutEndSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end -= 1
  return text.slice(0, end)
}
