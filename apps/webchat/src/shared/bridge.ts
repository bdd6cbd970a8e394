import type { WebchatSettings } from '@botstead/contract'

/** The settings that the server writes into the script of pages: those of the button. */
export type ButtonSettings = Pick<WebchatSettings, 'botName' | 'color' | 'position' | 'language'>

/** Settings that a page may set: those of the bot, and others of `@botpress/webchat`. */
export interface Configuration extends Partial<WebchatSettings> {
  fontFamily?: string
  /** Radius of corners, in units of 4 px. */
  radius?: number
  /** CSS for the inside of the chat. */
  additionalStylesheet?: string
  email?: { title?: string; link?: string }
  phone?: { title?: string; link?: string }
  website?: { title?: string; link?: string }
  termsOfService?: { title?: string; link?: string }
  privacyPolicy?: { title?: string; link?: string }
}

/** A user that the page has authenticated; `userId` has no effect. */
export interface Credentials {
  userId?: string
  userToken?: string
}

/** The user as the page describes it. */
export interface Profile {
  name?: string
  pictureUrl?: string
  data?: Record<string, unknown>
  /** Key of another user, who replaces the present one. */
  userKey?: string
}

export interface InitOptions {
  /** Accepted from existing pages; the address of the script names the chat. */
  clientId?: string
  botId?: string
  configuration?: Configuration
  user?: Credentials
  /** Element of the page that the chat fills; without one it is in a corner of the page. */
  selector?: string
}

/** The placement of the chat: in a corner of the page, in an element of it, or as the whole page. */
export type Layout = 'corner' | 'element' | 'page'

/** A payload of a message, by its type. */
export type Payload = { type: string } & Record<string, unknown>

/** Options that the script of the page passes to the chat. */
export interface WidgetOptions {
  /** Address of the chat, with a slash at the end. */
  base: string
  /** Prefix of the names under which the browser stores user, conversation and unsent messages. */
  storageKey: string
  /** Element inside of the shadow root that the chat fills. */
  container: HTMLElement
  layout: Layout
  /** Whether the chat has a button that closes it. */
  canClose: boolean
  /** Settings that the page has already; otherwise they are fetched. */
  settings: WebchatSettings | undefined
  configuration: Configuration
  user: Credentials | undefined
  profile: Profile | undefined
  emit(event: string, data?: unknown): void
  /** Opens, closes or toggles the chat, on request of the bot or of the user. */
  show(visibility: 'show' | 'hide' | 'toggle'): void
  /** Sets the number of messages that arrived while the chat was closed. */
  setUnread(count: number): void
  /** Applies a changed configuration to the appearance of the button and the chat. */
  updateAppearance(configuration: Configuration): void
}

/** The chat, as the script of the page controls it. */
export interface Widget {
  /** @param takesFocus whether the field for messages receives the focus, because the user opened the chat */
  setOpen(isOpen: boolean, takesFocus: boolean): void
  configure(configuration: Configuration, user?: Credentials): void
  sendMessage(message: string | Payload): Promise<void>
  sendEvent(event: Record<string, unknown>): Promise<void>
  updateUser(profile: Profile): Promise<void>
  getUser(): Promise<Record<string, unknown>>
  restartConversation(): Promise<void>
}

/** Shows the chat in its container and connects; rejects if the settings cannot be loaded. */
export type Mount = (options: WidgetOptions) => Promise<Widget>
