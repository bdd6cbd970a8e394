import type { WebchatSettings } from '@botstead/contract'
import { createRoot } from 'react-dom/client'
import { parseConfiguration } from './client/parse.js'
import { createSession } from './client/session.js'
import type { Mount } from './shared/bridge.js'
import composerStyles from './view/composer.css'
import { ChatContext } from './view/context.js'
import frameStyles from './view/frame.css'
import messageStyles from './view/messages.css'
import { Panel } from './view/panel.js'
import payloadStyles from './view/payload.css'

/** Shows the chat in an element of a shadow root, and connects. */
export const mount: Mount = async (options) => {
  const { base, container, place, show } = options
  const settings = options.settings ?? (await fetchSettings(base))
  const configuration = { ...settings, ...parseConfiguration(options.configuration) }
  options.restyle(configuration)
  fitAboveKeyboard(container)
  adoptStyles(container, [
    frameStyles,
    messageStyles,
    payloadStyles,
    composerStyles,
    configuration.additionalStylesheet ?? '',
  ])
  const session = createSession(options, configuration)
  const { store, outbox } = session
  createRoot(container).render(
    <ChatContext value={{ session, place, close: () => show('hide') }}>
      <Panel />
    </ChatContext>,
  )
  return {
    setOpen: (isOpen, takesFocus) => store.set({ isOpen, takesFocus }),
    configure: session.configure,
    async sendMessage(message) {
      outbox.add(typeof message === 'string' ? { type: 'text', text: message } : message)
    },
    sendEvent: session.sendEvent,
    updateUser: session.updateUser,
    getUser: session.getUser,
    async restartConversation() {
      session.restart()
    },
  }
}

async function fetchSettings(base: string): Promise<WebchatSettings> {
  const response = await fetch(`${base}config`, { credentials: 'omit' })
  if (!response.ok) throw new Error(`The settings of the chat: ${response.status}`)
  return await response.json()
}

/** Some phones lay their keyboard over the page instead of making it smaller: what is left is the height of the chat. */
function fitAboveKeyboard({ style }: HTMLElement): void {
  const { visualViewport: seen } = window
  const fit = () => {
    // Whoever enlarges the page wants it larger.
    if (seen === null || seen.scale !== 1) return
    style.setProperty('--seen', `${seen.height}px`)
    style.setProperty('--top', `${seen.offsetTop}px`)
  }
  seen?.addEventListener('resize', fit)
  seen?.addEventListener('scroll', fit)
}

/** Styles that a policy of the page does not have to allow, unlike those of style elements. */
function adoptStyles(container: HTMLElement, texts: readonly string[]): void {
  const root = container.getRootNode() as ShadowRoot
  const sheets = texts.map((text) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    return sheet
  })
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets]
}
