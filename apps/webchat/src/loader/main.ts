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

// `currentScript` is null in a module.
const script = document.currentScript ?? document.querySelector('script[src*="/inject.js"]')
// Another copy of this script may have run. An element whose id is `botpress` has the same name on `window`.
const existing: unknown = Object(Reflect.get(window, 'botpress')).init
if (script instanceof HTMLScriptElement && typeof existing !== 'function') start(script)

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
  /** The settings of the button; the chat loads the others. */
  const buttonConfiguration = (): Configuration => ({
    ...served,
    ...settings,
    ...options.configuration,
  })
  let profile: Profile | undefined
  let host: Host | undefined
  let widget: Widget | undefined
  let loading: Promise<Widget> | undefined
  let attempts = 0
  let isOpen = false
  let layout: Layout = 'corner'

  const domReady = new Promise<void>((resolve) => {
    if (document.readyState !== 'loading') resolve()
    else document.addEventListener('DOMContentLoaded', () => resolve())
  })

  function requireHost(): Host {
    const given = options.selector === undefined ? null : document.querySelector(options.selector)
    // Not inside the body: a transform or filter there would move a fixed element.
    const parent = given ?? document.documentElement
    if (host !== undefined) {
      // The page has replaced the element in which the chat was.
      host.attach(parent)
      return host
    }
    layout = given === null ? 'corner' : isPage ? 'page' : 'element'
    host = createHost(parent, layout, buttonConfiguration(), toggle)
    emit('webchat:initialized')
    emit('webchat:ready')
    return host
  }

  async function load(): Promise<Widget> {
    await domReady
    const { container, setUnread, style } = requireHost()
    // Browsers cache a failed import under its address.
    const query = attempts === 0 ? '' : `?again=${attempts}`
    attempts += 1
    const { mount }: { mount: Mount } = await import(
      /* @vite-ignore */ new URL(`assets/${widgetFile}${query}`, base).href
    )
    widget = await mount({
      base: base.href,
      storageKey: `bp-webchat-${webhookId}`,
      container,
      layout,
      // A chat that fills an element has no button that would open it again; it can be closed if the page opens it.
      canClose: layout === 'corner' || (layout === 'element' && dataset.open === undefined),
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
      setUnread,
      updateAppearance: style,
    })
    return widget
  }

  /** Returns the chat, which the first call loads; a call after a failure tries again. */
  function requireWidget(): Promise<Widget> {
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
    requireWidget().then(
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
    // While the chat is still loading, only the button changes.
    if (widget === undefined) host?.show('closed')
    else setOpen(false, false)
  }

  function setOpen(opens: boolean, takesFocus: boolean): void {
    host?.show(opens ? 'open' : 'closed')
    widget?.setOpen(opens, takesFocus)
    emit(opens ? 'webchat:opened' : 'webchat:closed')
  }

  function toggle(): void {
    if (isOpen) close()
    else open()
  }

  // An open chat is open on the next page of the site too, in the same tab.
  const openKey = `bp-webchat-${webhookId}-open`
  function remember(isNow: boolean): void {
    try {
      if (isNow) sessionStorage.setItem(openKey, '1')
      else sessionStorage.removeItem(openKey)
    } catch {
      // The browser stores nothing.
    }
  }
  function wasOpen(): boolean {
    try {
      return layout === 'corner' && sessionStorage.getItem(openKey) !== null
    } catch {
      return false
    }
  }

  function merge({ configuration, user }: InitOptions): void {
    options.configuration = { ...options.configuration, ...configuration }
    if (user !== undefined) options.user = user
    if (widget === undefined) host?.style(buttonConfiguration())
    else widget.configure(configuration ?? {}, user)
  }

  const api = {
    init(given: InitOptions = {}) {
      const { selector } = given
      if (selector !== undefined && selector !== options.selector) {
        options.selector = selector
        // The button was added before the page gave the element of the chat.
        if (loading === undefined) {
          host?.remove()
          host = undefined
        }
      }
      merge(given)
      void domReady.then(requireHost)
    },
    config: merge,
    on: (event: string, listener: Listener) => on(event, listener),
    open: () => open(),
    close,
    toggle,
    sendMessage: async (message: string | Payload) =>
      await (await requireWidget()).sendMessage(message),
    sendEvent: async (event: Record<string, unknown>) =>
      await (await requireWidget()).sendEvent(event),
    getUser: async () => await (await requireWidget()).getUser(),
    restartConversation: async () => await (await requireWidget()).restartConversation(),
    /** Does not load the chat: the profile is sent when the user opens it. */
    async updateUser(given: Profile) {
      profile = { ...profile, ...given }
      await widget?.updateUser(given)
    },
  }
  Reflect.set(window, 'botpress', api)
  if (dataset.manual === undefined) {
    void domReady.then(() => {
      requireHost()
      // The user did not ask for it, so the focus stays where it is. A chat that would cover the page takes the focus,
      // and opens only if the page requests it.
      const covers = isPage || (layout === 'corner' && matchMedia(small).matches)
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
