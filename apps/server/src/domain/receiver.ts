/** Who gets a delivery: a bot, or an integration installed in it. */
export interface Receiver {
  botId: string
  /** Alias of the installation; empty for the bot. */
  integration: string
}

/** One text that identifies a receiver, for maps and hints. */
export function receiverKey({ botId, integration }: Receiver): string {
  return `${botId}/${integration}`
}

/** The receiver that a key identifies. */
export function receiverOf(key: string): Receiver {
  const slash = key.indexOf('/')
  return { botId: key.slice(0, slash), integration: key.slice(slash + 1) }
}
