import { defaultWebchatSettings, type WebchatSettings } from '@botstead/contract'
import type { BotsService } from '../features/bots/bots/index.js'

/** Returns the settings of the web chat at a webhook id; undefined if it is unknown or switched off. */
export type ReadWebchatSettings = (webhookId: string) => Promise<WebchatSettings | undefined>

/** Makes the function that reads settings of web chats. Nobody can change them yet: they follow from the bot. */
export function createWebchatSettings({
  bots,
}: {
  bots: Pick<BotsService, 'findChatInstallation' | 'namesOf'>
}): ReadWebchatSettings {
  return async (webhookId) => {
    const chat = await bots.findChatInstallation(webhookId)
    if (chat === undefined || !chat.enabled) return undefined
    const names = await bots.namesOf(chat, [chat.botId])
    return defaultWebchatSettings(names.get(chat.botId) ?? '')
  }
}
