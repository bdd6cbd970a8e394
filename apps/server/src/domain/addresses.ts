/** The public addresses that responses contain; none ends with a slash. */
export interface Addresses {
  /** Of the main interface. */
  base(): string
  /** Of chat: followed by `/<webhook id>`. */
  chat(): string
  /** Of integration webhooks: followed by `/<webhook id>`. */
  webhooks(): string
}

/**
 * Addresses below a base that is read anew each time: a server that takes any free port knows its
 * address only once it listens.
 */
export function createAddresses(base: () => string): Addresses {
  return { base, chat: () => `${base()}/chat`, webhooks: () => `${base()}/webhooks` }
}
