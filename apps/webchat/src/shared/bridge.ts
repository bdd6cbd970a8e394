import type { WebchatSettings } from '@botstead/contract'

/** What the server writes into the script of pages: enough for the button. */
export type Served = Pick<WebchatSettings, 'botName' | 'color' | 'position' | 'language'>

/** What a page may set: the settings of the bot, and what existing pages set besides. */
export interface Configuration extends Partial<WebchatSettings> {
  fontFamily?: string
  /** Radius of corners: a factor of 4 px. */
  radius?: number
  /** Styles for the inside of the chat. */
  additionalStylesheet?: string
  email?: { title?: string; link?: string }
  phone?: { title?: string; link?: string }
  website?: { title?: string; link?: string }
  termsOfService?: { title?: string; link?: string }
  privacyPolicy?: { title?: string; link?: string }
}

/** The user of a page that knows who it is: only the token counts. */
export interface Credentials {
  userId?: string
  userToken?: string
}

/** What a page may tell of its user. */
export interface Profile {
  name?: string
  pictureUrl?: string
  data?: Record<string, unknown>
  /** Key of another user, who takes the place of this one. */
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

/** Where the chat is: in a corner, in an element of the page, or the whole page. */
export type Place = 'corner' | 'element' | 'page'

/** A payload of a message, by its type. */
export type Payload = { type: string } & Record<string, unknown>

/** What the chat is given by the script of the page. */
export interface WidgetOptions {
  /** Address of the chat, with a slash at the end. */
  base: string
  /** Name under which the browser keeps user and conversation. */
  storageKey: string
  /** Element inside of the shadow root that the chat fills. */
  container: HTMLElement
  place: Place
  /** Settings that the page has already; otherwise they are fetched. */
  settings: WebchatSettings | undefined
  configuration: Configuration
  user: Credentials | undefined
  profile: Profile | undefined
  emit(event: string, data?: unknown): void
  /** Opens, closes or toggles, as the bot or a person inside of the chat asks for. */
  show(visibility: 'show' | 'hide' | 'toggle'): void
  /** Says how many messages came while the chat was closed. */
  countUnread(count: number): void
  /** Hands over a changed look, which the button has too. */
  restyle(configuration: Configuration): void
}

/** The chat, as the script of the page drives it. */
export interface Widget {
  /** @param takesFocus whether somebody asked for it, who then wants to write */
  setOpen(isOpen: boolean, takesFocus: boolean): void
  configure(configuration: Configuration, user?: Credentials): void
  sendMessage(message: string | Payload): Promise<void>
  sendEvent(event: Record<string, unknown>): Promise<void>
  updateUser(profile: Profile): Promise<void>
  getUser(): Promise<Record<string, unknown>>
  restartConversation(): Promise<void>
}

export type Mount = (options: WidgetOptions) => Promise<Widget>
