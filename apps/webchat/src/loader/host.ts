import { applyAppearance, dark, languageOf } from '../shared/appearance.js'
import type { Configuration, Layout } from '../shared/bridge.js'
import { translations } from './translations.js'

type State = 'closed' | 'loading' | 'failed' | 'open'

/** The element that the script adds to a page; its shadow root isolates it from the styles of the page. */
export interface Host {
  /** The element that the chat fills. */
  container: HTMLElement
  show(state: State): void
  /** Sets the number on the button; 0 hides it. */
  setUnread(count: number): void
  /** Applies language, theme and colours. */
  style(configuration: Configuration): void
  /** Adds the element to the page again if the page has removed it. */
  attach(parent: Element): void
  remove(): void
}

/** Screens on which the open chat covers the page. */
export const small = '(max-width:480px),(max-height:420px)'

const styles = `
.root{--accent:#0f5f73;--on-accent:#fff;font:14px/1.4 system-ui,sans-serif;color:#1b1b1f}
.fill,.fill .panel{width:100%;height:100%}
.launcher{position:fixed;bottom:16px;right:16px}
[data-side=left] .launcher{right:auto;left:16px}
.launcher button{all:unset;box-sizing:border-box;display:grid;place-items:center;width:56px;height:56px;border-radius:50%;background:var(--accent);color:var(--on-accent);cursor:pointer;box-shadow:0 0 0 1px #fff8,0 4px 16px #0005}
.launcher button:focus-visible{outline:3px solid var(--accent);outline-offset:3px;box-shadow:0 0 0 3px #fff}
.launcher [aria-busy=true] svg{opacity:.5}
.launcher svg{width:28px;height:28px;fill:currentColor;pointer-events:none}
.launcher .count{position:absolute;top:-4px;right:-4px;min-width:20px;box-sizing:border-box;padding:0 5px;border-radius:10px;background:#b3261e;color:#fff;font-size:13px;line-height:20px;text-align:center}
.launcher .note{position:absolute;bottom:68px;right:0;width:max-content;max-width:min(280px,calc(100vw - 32px));box-sizing:border-box;padding:8px 12px;border-radius:8px;background:#1b1b1f;color:#fff}
[data-side=left] .launcher .note{right:auto;left:0}
.launcher [hidden],.launcher[hidden],.launcher .note:empty{display:none}
@media ${small}{.launcher[data-open]{display:none}}
@media print{.launcher,.chat.corner{display:none}}
@media (forced-colors:active){.launcher button{border:2px solid ButtonText}}
`

const bubble = 'M4 3h16a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2H9l-5 4v-4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z'
const cross =
  'm6.4 4.9 5.6 5.7 5.6-5.7 1.5 1.5-5.7 5.6 5.7 5.6-1.5 1.5-5.6-5.7-5.6 5.7-1.5-1.5 5.7-5.6-5.7-5.6z'

/** Adds the element to the page; in the layout `corner` with the button that opens and closes the chat. */
export function createHost(
  parent: Element,
  layout: Layout,
  configuration: Configuration,
  onPress: () => void,
): Host {
  const host = document.createElement('botstead-webchat')
  // Important inline styles override all styles of the page, and inside the shadow root these do not apply.
  const own: Record<string, string> =
    layout === 'corner'
      ? { all: 'initial', position: 'fixed', 'z-index': '2147483647' }
      : { all: 'initial', display: 'block', height: '100%' }
  for (const [name, value] of Object.entries(own)) host.style.setProperty(name, value, 'important')
  const shadow = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  const root = add(shadow, 'div', layout === 'corner' ? 'root' : 'root fill')
  const container = add(root, 'div', 'panel')

  // Otherwise, typing in the chat would trigger keyboard shortcuts of the page.
  for (const type of ['keydown', 'keyup', 'keypress']) {
    shadow.addEventListener(type, (event) => event.stopPropagation())
  }

  const launcher = add(root, 'section', 'launcher')
  const button = add(launcher, 'button')
  const count = add(launcher, 'span', 'count')
  const note = add(launcher, 'div', 'note')
  button.type = 'button'
  button.append(iconOf(bubble))
  button.addEventListener('click', onPress)
  count.hidden = true
  count.setAttribute('aria-hidden', 'true')
  note.setAttribute('role', 'status')
  if (layout !== 'corner') launcher.hidden = true

  let shown: State = 'closed'
  let unread = 0
  let current = configuration
  const render = () => {
    const text = translations[languageOf(current)]
    launcher.setAttribute('aria-label', text.chat)
    const isOpen = shown === 'open'
    const open = text.open.replace('$', () => current.botName ?? '')
    const suffix = unread > 0 ? `, ${text.unread.replace('#', String(unread))}` : ''
    button.setAttribute('aria-label', isOpen ? text.close : `${open}${suffix}`)
    button.setAttribute('aria-expanded', String(isOpen))
    button.setAttribute('aria-busy', String(shown === 'loading'))
    button.replaceChildren(iconOf(isOpen ? cross : bubble))
    launcher.toggleAttribute('data-open', isOpen)
    count.hidden = unread === 0
    count.textContent = unread > 99 ? '99+' : String(unread)
    note.textContent = shown === 'failed' ? text.failed : ''
    if (shown === 'loading') note.textContent = text.loading
    note.style.opacity = shown === 'loading' ? '0' : '1'
  }
  const style = (changed: Configuration) => {
    current = changed
    applyAppearance(root, current)
    render()
  }
  // While the chat covers the page, the page must not be reachable by keyboard or screen reader.
  const screen = matchMedia(small)
  let coversPage = false
  const updateInert = () => {
    const covers = layout === 'corner' && shown === 'open' && screen.matches
    if (covers !== coversPage) document.body.inert = covers
    coversPage = covers
  }
  screen.addEventListener('change', updateInert)
  matchMedia(dark).addEventListener('change', () => style(current))
  /** Applies language, theme and colours. */
  style(configuration)
  parent.append(host)
  return {
    container,
    show(state) {
      const wasOpen = shown === 'open'
      shown = state
      render()
      updateInert()
      if (wasOpen && state === 'closed') button.focus()
    },
    setUnread(number) {
      unread = number
      render()
    },
    style,
    attach(parent) {
      if (!host.isConnected) parent.append(host)
    },
    remove: () => host.remove(),
  }
}

function add<Name extends keyof HTMLElementTagNameMap>(
  parent: Node,
  name: Name,
  className = '',
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  element.className = className
  parent.appendChild(element)
  return element
}

function iconOf(path: string): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg'
  const icon = document.createElementNS(namespace, 'svg')
  icon.setAttribute('viewBox', '0 0 24 24')
  icon.setAttribute('aria-hidden', 'true')
  const shape = document.createElementNS(namespace, 'path')
  shape.setAttribute('d', path)
  icon.append(shape)
  return icon
}
