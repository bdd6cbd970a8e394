import type { WebchatSettings } from '@botstead/contract'
import type {
  Configuration,
  InitOptions,
  Mount,
  Payload,
  Place,
  Profile,
  Served,
  Widget,
} from '../shared/bridge.js'
import { createEmitter, type Listener } from './emitter.js'
import { createHost, type Host, small } from './host.js'

/** Name of the file of the chat; the build knows it. */
declare const widgetFile: string
/** Written around this script by the server. */
declare const served: Served

// A module has no element of its own.
const script = document.currentScript ?? document.querySelector('script[src*="/inject.js"]')
// An element of the page with this id has the same name, and does not count.
const known: unknown = Object(Reflect.get(window, 'botpress')).init
if (script instanceof HTMLScriptElement && typeof known !== 'function') start(script)

/** Puts the button on the page and its interface at `window.botpress`, without loading anything. */
function start({ src, dataset }: HTMLScriptElement): void {
  const base = new URL('.', src)
  const webhookId = decodeURIComponent(base.pathname.split('/').at(-2) ?? '')
  const { emit, on } = createEmitter()
  const isPage = dataset.page !== undefined
  const settings = isPage ? readSettings() : undefined
  const options: InitOptions = {
    configuration: readAttributes(dataset),
    ...(isPage && { selector: dataset.page }),
    ...(!isPage && dataset.selector && { selector: dataset.selector }),
  }
  /** Until the chat is loaded, what the server wrote into this script. */
  const lookOf = (): Configuration => ({ ...served, ...settings, ...options.configuration })
  let profile: Profile | undefined
  let host: Host | undefined
  let widget: Widget | undefined
  let loading: Promise<Widget> | undefined
  let attempts = 0
  let isOpen = false
  let place: Place = 'corner'

  const inPage = new Promise<void>((resolve) => {
    if (document.readyState !== 'loading') resolve()
    else document.addEventListener('DOMContentLoaded', () => resolve())
  })

  function requireHost(): Host {
    const given = options.selector === undefined ? null : document.querySelector(options.selector)
    // Beside the body: whatever the page does to its body, a fixed element stays where it is.
    const parent = given ?? document.documentElement
    if (host !== undefined) {
      // The page has replaced the element in which the chat was.
      host.attach(parent)
      return host
    }
    place = given === null ? 'corner' : isPage ? 'page' : 'element'
    host = createHost(parent, place, lookOf(), toggle)
    emit('webchat:initialized')
    emit('webchat:ready')
    return host
  }

  async function load(): Promise<Widget> {
    await inPage
    const { container, countUnread, style } = requireHost()
    // A browser may remember that a file could not be loaded.
    const again = attempts === 0 ? '' : `?again=${attempts}`
    attempts += 1
    const { mount }: { mount: Mount } = await import(
      /* @vite-ignore */ new URL(`assets/${widgetFile}${again}`, base).href
    )
    widget = await mount({
      base: base.href,
      storageKey: `bp-webchat-${webhookId}`,
      container,
      place,
      settings,
      configuration: options.configuration ?? {},
      user: options.user,
      profile,
      emit,
      show: (visibility) => {
        if (visibility === 'toggle') toggle()
        else if (visibility === 'show') open()
        else close()
      },
      countUnread,
      restyle: style,
    })
    return widget
  }

  function require(): Promise<Widget> {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      emit('error', error)
      throw error
    })
    return loading
  }

  function open(takesFocus = true): void {
    if (isOpen) return
    isOpen = true
    remember(true)
    if (host !== undefined) requireHost()
    if (widget === undefined) host?.show('loading')
    require().then(
      () => {
        if (isOpen) setOpen(true, takesFocus)
      },
      () => {
        isOpen = false
        remember(false)
        host?.show('failed')
      },
    )
  }

  function close(): void {
    if (!isOpen) return
    isOpen = false
    remember(false)
    // What is still loading stays closed.
    if (widget === undefined) host?.show('closed')
    else setOpen(false, false)
  }

  function setOpen(wish: boolean, takesFocus: boolean): void {
    host?.show(wish ? 'open' : 'closed')
    widget?.setOpen(wish, takesFocus)
    emit(wish ? 'webchat:opened' : 'webchat:closed')
  }

  function toggle(): void {
    if (isOpen) close()
    else open()
  }

  // A chat that is open stays so on the next page of the site, in the same tab.
  const openKey = `bp-webchat-${webhookId}-open`
  function remember(isNow: boolean): void {
    try {
      if (isNow) sessionStorage.setItem(openKey, '1')
      else sessionStorage.removeItem(openKey)
    } catch {
      // A browser that keeps nothing.
    }
  }
  function wasOpen(): boolean {
    try {
      return place === 'corner' && sessionStorage.getItem(openKey) !== null
    } catch {
      return false
    }
  }

  function merge({ configuration, user }: InitOptions): void {
    options.configuration = { ...options.configuration, ...configuration }
    if (user !== undefined) options.user = user
    if (widget === undefined) host?.style(lookOf())
    else widget.configure(configuration ?? {}, user)
  }

  const api = {
    init(given: InitOptions = {}) {
      const { selector } = given
      if (selector !== undefined && selector !== options.selector) {
        options.selector = selector
        // The button was there before the page said where the chat belongs.
        if (loading === undefined) {
          host?.remove()
          host = undefined
        }
      }
      merge(given)
      void inPage.then(requireHost)
    },
    config: merge,
    on: (event: string, listener: Listener) => on(event, listener),
    open: () => open(),
    close,
    toggle,
    sendMessage: async (message: string | Payload) => await (await require()).sendMessage(message),
    sendEvent: async (event: Record<string, unknown>) => await (await require()).sendEvent(event),
    getUser: async () => await (await require()).getUser(),
    restartConversation: async () => await (await require()).restartConversation(),
    /** Loads nothing: what is said of a user who never opens the chat is not sent. */
    async updateUser(given: Profile) {
      profile = { ...profile, ...given }
      await widget?.updateUser(given)
    },
  }
  Reflect.set(window, 'botpress', api)
  if (dataset.manual === undefined) {
    void inPage.then(() => {
      requireHost()
      // Beside the page it leaves the focus where it is: nobody has asked for it. Where it would cover the page, it
      // takes the focus, and opens only if this page says so.
      const covers = isPage || (place === 'corner' && matchMedia(small).matches)
      if (isPage || dataset.open !== undefined || (wasOpen() && !covers)) open(covers)
    })
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
