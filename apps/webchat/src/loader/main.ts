import type { WebchatSettings } from '@botstead/contract'
import type {
  ButtonSettings,
  Configuration,
  InitOptions,
  Layout,
  Mount,
  Payload,
  Profile,
  Widget,
} from '../shared/bridge.js'
import { createEmitter, type Listener } from './emitter.js'
import { createHost, type Host, small } from './host.js'

/** Name of the file of the chat; defined by the build. */
declare const widgetFile: string
/** Parameter of the function that the server writes around this script. */
declare const served: ButtonSettings

/** Puts the button on the page and its interface at `window.botpress`, without loading anything. */
function start(element: HTMLScriptElement): void {
  const chat = new PageChat(element)
  Reflect.set(window, 'botpress', apiOf(chat))
  if (element.dataset.manual === undefined) void chat.domReady.then(() => chat.appear())
}

/** The interface of the chat for scripts of the page. */
function apiOf(chat: PageChat) {
  return {
    init: (given: InitOptions = {}) => chat.init(given),
    config: (given: InitOptions) => chat.merge(given),
    on: (event: string, listener: Listener) => chat.on(event, listener),
    open: () => chat.open(),
    close: () => chat.close(),
    toggle: () => chat.toggle(),
    sendMessage: async (message: string | Payload) =>
      await (await chat.requireWidget()).sendMessage(message),
    sendEvent: async (event: Record<string, unknown>) =>
      await (await chat.requireWidget()).sendEvent(event),
    getUser: async () => await (await chat.requireWidget()).getUser(),
    restartConversation: async () => await (await chat.requireWidget()).restartConversation(),
    updateUser: (given: Profile) => chat.updateUser(given),
  }
}

/** The chat of a page: its button, and the chat itself once it is loaded. */
class PageChat {
  readonly on: ReturnType<typeof createEmitter>['on']
  readonly domReady = new Promise<void>((resolve) => {
    if (document.readyState !== 'loading') resolve()
    else document.addEventListener('DOMContentLoaded', () => resolve())
  })
  readonly #emit: ReturnType<typeof createEmitter>['emit']
  readonly #base: URL
  readonly #webhookId: string
  readonly #data: DOMStringMap
  readonly #isPage: boolean
  readonly #settings: WebchatSettings | undefined
  readonly #options: InitOptions
  #profile: Profile | undefined
  #host: Host | undefined
  #widget: Widget | undefined
  #loading: Promise<Widget> | undefined
  #attempts = 0
  #isOpen = false
  #layout: Layout = 'corner'

  constructor({ src, dataset }: HTMLScriptElement) {
    const { emit, on } = createEmitter()
    this.#emit = emit
    this.on = on
    this.#base = new URL('.', src)
    this.#webhookId = decodeURIComponent(this.#base.pathname.split('/').at(-2) ?? '')
    this.#data = dataset
    this.#isPage = dataset.page !== undefined
    this.#settings = this.#isPage ? readSettings() : undefined
    this.#options = {
      configuration: readAttributes(dataset),
      ...(this.#isPage && { selector: dataset.page }),
      ...(!this.#isPage && dataset.selector && { selector: dataset.selector }),
    }
  }

  /** Shows the button, and opens a chat that was open or is to be. */
  appear(): void {
    this.#requireHost()
    // The user did not ask for it, so the focus stays where it is. A chat that would cover the page takes the focus,
    // and opens only if the page requests it.
    const covers = this.#isPage || (this.#layout === 'corner' && matchMedia(small).matches)
    if (this.#isPage || this.#data.open !== undefined || (this.#wasOpen() && !covers)) {
      this.open(covers)
    }
  }

  init(given: InitOptions): void {
    const { selector } = given
    if (selector !== undefined && selector !== this.#options.selector) {
      this.#options.selector = selector
      // The button was added before the page gave the element of the chat.
      if (this.#loading === undefined) {
        this.#host?.remove()
        this.#host = undefined
      }
    }
    this.merge(given)
    void this.domReady.then(() => this.#requireHost())
  }

  merge({ configuration, user }: InitOptions): void {
    const options = this.#options
    options.configuration = { ...options.configuration, ...configuration }
    if (user !== undefined) options.user = user
    if (this.#widget === undefined) this.#host?.style(this.#buttonConfiguration())
    else this.#widget.configure(configuration ?? {}, user)
  }

  /** Does not load the chat: the profile is sent when the user opens it. */
  async updateUser(given: Profile): Promise<void> {
    this.#profile = { ...this.#profile, ...given }
    await this.#widget?.updateUser(given)
  }

  /** Returns the chat, which the first call loads; a call after a failure tries again. */
  requireWidget(): Promise<Widget> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined
      this.#emit('error', error)
      throw error
    })
    return this.#loading
  }

  open(takesFocus = true): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#remember(true)
    if (this.#host !== undefined) this.#requireHost()
    if (this.#widget === undefined) this.#host?.show('loading')
    this.requireWidget().then(
      () => {
        if (this.#isOpen) this.#setOpen(true, takesFocus)
      },
      () => {
        this.#isOpen = false
        this.#remember(false)
        this.#host?.show('failed')
      },
    )
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#remember(false)
    // While the chat is still loading, only the button changes.
    if (this.#widget === undefined) this.#host?.show('closed')
    else this.#setOpen(false, false)
  }

  toggle(): void {
    if (this.#isOpen) this.close()
    else this.open()
  }

  /** The settings of the button; the chat loads the others. */
  #buttonConfiguration(): Configuration {
    return { ...served, ...this.#settings, ...this.#options.configuration }
  }

  #requireHost(): Host {
    const { selector } = this.#options
    const given = selector === undefined ? null : document.querySelector(selector)
    // Not inside the body: a transform or filter there would move a fixed element.
    const parent = given ?? document.documentElement
    if (this.#host !== undefined) {
      // The page has replaced the element in which the chat was.
      this.#host.attach(parent)
      return this.#host
    }
    this.#layout = given === null ? 'corner' : this.#isPage ? 'page' : 'element'
    const configuration = this.#buttonConfiguration()
    this.#host = createHost(parent, this.#layout, configuration, () => this.toggle())
    this.#emit('webchat:initialized')
    this.#emit('webchat:ready')
    return this.#host
  }

  async #load(): Promise<Widget> {
    await this.domReady
    const { container, setUnread, style } = this.#requireHost()
    // Browsers cache a failed import under its address.
    const query = this.#attempts === 0 ? '' : `?again=${this.#attempts}`
    this.#attempts += 1
    const base = this.#base
    const layout = this.#layout
    const { mount }: { mount: Mount } = await import(
      /* @vite-ignore */ new URL(`assets/${widgetFile}${query}`, base).href
    )
    this.#widget = await mount({
      base: base.href,
      storageKey: `bp-webchat-${this.#webhookId}`,
      container,
      layout,
      // A chat that fills an element has no button that would open it again; it can be closed if the page opens it.
      canClose: layout === 'corner' || (layout === 'element' && this.#data.open === undefined),
      settings: this.#settings,
      configuration: this.#options.configuration ?? {},
      user: this.#options.user,
      profile: this.#profile,
      emit: this.#emit,
      show: (visibility) => {
        if (visibility === 'toggle') this.toggle()
        else if (visibility === 'show') this.open()
        else this.close()
      },
      setUnread,
      updateAppearance: style,
    })
    return this.#widget
  }

  #setOpen(opens: boolean, takesFocus: boolean): void {
    this.#host?.show(opens ? 'open' : 'closed')
    this.#widget?.setOpen(opens, takesFocus)
    this.#emit(opens ? 'webchat:opened' : 'webchat:closed')
  }

  /** An open chat is open on the next page of the site too, in the same tab. */
  get #openKey(): string {
    return `bp-webchat-${this.#webhookId}-open`
  }

  #remember(isNow: boolean): void {
    try {
      if (isNow) sessionStorage.setItem(this.#openKey, '1')
      else sessionStorage.removeItem(this.#openKey)
    } catch {
      // The browser stores nothing.
    }
  }

  #wasOpen(): boolean {
    try {
      return this.#layout === 'corner' && sessionStorage.getItem(this.#openKey) !== null
    } catch {
      return false
    }
  }
}

function readAttributes(data: DOMStringMap): Configuration {
  const { name, color, place, language, greeting } = data
  return {
    ...(name && { botName: name }),
    ...(color && { color }),
    ...(place && { position: place === 'left' ? 'left' : 'right' }),
    ...(language && { language }),
    ...(greeting && { greeting }),
  }
}

function readSettings(): WebchatSettings {
  return JSON.parse(document.getElementById('settings')?.textContent ?? '')
}

// At the end, when the class exists.
// `currentScript` is null in a module.
const script = document.currentScript ?? document.querySelector('script[src*="/inject.js"]')
// Another copy of this script may have run. An element whose id is `botpress` has the same name on `window`.
const existing: unknown = Object(Reflect.get(window, 'botpress')).init
if (script instanceof HTMLScriptElement && typeof existing !== 'function') start(script)
