import type { WebchatSettings } from '@botstead/contract'
import { createRoot } from 'react-dom/client'
import { parseConfiguration } from './client/parse.js'
import { Session } from './client/session.js'
import type { Mount } from './shared/bridge.js'
import composerStyles from './view/composer.css'
import { ChatContext } from './view/context.js'
import frameStyles from './view/frame.css'
import messageStyles from './view/messages.css'
import { Panel } from './view/panel.js'
import payloadStyles from './view/payload.css'

/** Shows the chat in an element of a shadow root, and connects. */
export const mount: Mount = async (options) => {
  const { base, container, layout, canClose, show } = options
  const settings = options.settings ?? (await fetchSettings(base))
  const configuration = { ...settings, ...parseConfiguration(options.configuration) }
  options.updateAppearance(configuration)
  fitAboveKeyboard(container)
  adoptStyles(container, [
    frameStyles,
    messageStyles,
    payloadStyles,
    composerStyles,
    configuration.additionalStylesheet ?? '',
  ])
  const session = new Session(options, configuration)
  const { store, outbox } = session
  createRoot(container).render(
    <ChatContext value={{ session, layout, canClose, close: () => show('hide') }}>
      <Panel />
    </ChatContext>,
  )
  return {
    setOpen: (isOpen, takesFocus) => store.set({ isOpen, takesFocus }),
    configure: (given, user) => session.configure(given, user),
    async sendMessage(message) {
      outbox.add(typeof message === 'string' ? { type: 'text', text: message } : message)
    },
    sendEvent: (event) => session.sendEvent(event),
    updateUser: (profile) => session.updateUser(profile),
    getUser: () => session.getUser(),
    async restartConversation() {
      session.restart()
    },
  }
}

async function fetchSettings(base: string): Promise<WebchatSettings> {
  const response = await fetch(`${base}config`, { credentials: 'omit' })
  if (!response.ok)
    throw new Error(`The settings of the chat cannot be loaded: status ${response.status}`)
  return await response.json()
}

/** Fits the chat into the part of the page above an on-screen keyboard, which covers the page on some phones. */
function fitAboveKeyboard({ style }: HTMLElement): void {
  const { visualViewport: viewport } = window
  const fit = () => {
    // A user who has zoomed in must not get a smaller chat.
    if (viewport === null || viewport.scale !== 1) return
    style.setProperty('--visible-height', `${viewport.height}px`)
    style.setProperty('--visible-top', `${viewport.offsetTop}px`)
  }
  viewport?.addEventListener('resize', fit)
  viewport?.addEventListener('scroll', fit)
}

/** Adds constructed style sheets, which need no permission by a Content-Security-Policy, unlike style elements. */
function adoptStyles(container: HTMLElement, texts: readonly string[]): void {
  const root = container.getRootNode() as ShadowRoot
  const sheets = texts.map((text) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    return sheet
  })
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets]
}
