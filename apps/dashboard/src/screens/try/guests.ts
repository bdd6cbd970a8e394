import type { Guest } from './queries.js'

const nameOf = (botId: string) => `botstead guest of ${botId}`

/** The guest of a bot in this tab; it ends with the tab, because its key is a credential. */
export function guestOf(botId: string): Guest | undefined {
  try {
    const text = sessionStorage.getItem(nameOf(botId))
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

export function keepGuest(botId: string, guest: Guest): void {
  try {
    sessionStorage.setItem(nameOf(botId), JSON.stringify(guest))
  } catch {
    // A browser that keeps nothing begins a new chat after a reload.
  }
}
