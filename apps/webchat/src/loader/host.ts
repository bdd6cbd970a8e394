import type { Configuration, Place } from '../shared/bridge.js'
import { applyLook, dark, languageOf } from '../shared/look.js'
import { words } from './words.js'

type State = 'closed' | 'loading' | 'failed' | 'open'

/** What the script adds to a page: one element, whose inside the styles of the page do not reach. */
export interface Host {
  /** The element that the chat fills. */
  container: HTMLElement
  show(state: State): void
  countUnread(count: number): void
  style(configuration: Configuration): void
  /** Puts the element back on the page, if the page has removed it. */
  attach(parent: Element): void
  remove(): void
}

/** Screens on which the open chat covers the page. */
export const small = '(max-width:480px),(max-height:420px)'

const styles = `
.root{--accent:#0f5f73;--on-accent:#fff;font:14px/1.4 system-ui,sans-serif;color:#1b1b1f}
.fill,.fill .panel{width:100%;height:100%}
.launch{position:fixed;bottom:16px;right:16px}
[data-side=left] .launch{right:auto;left:16px}
.launch button{all:unset;box-sizing:border-box;display:grid;place-items:center;width:56px;height:56px;border-radius:50%;background:var(--accent);color:var(--on-accent);cursor:pointer;box-shadow:0 0 0 1px #fff8,0 4px 16px #0005}
.launch button:focus-visible{outline:3px solid var(--accent);outline-offset:3px;box-shadow:0 0 0 3px #fff}
.launch [aria-busy=true] svg{opacity:.5}
.launch svg{width:28px;height:28px;fill:currentColor;pointer-events:none}
.launch .count{position:absolute;top:-4px;right:-4px;min-width:20px;box-sizing:border-box;padding:0 5px;border-radius:10px;background:#b3261e;color:#fff;font-size:13px;line-height:20px;text-align:center}
.launch .note{position:absolute;bottom:68px;right:0;width:max-content;max-width:min(280px,calc(100vw - 32px));box-sizing:border-box;padding:8px 12px;border-radius:8px;background:#1b1b1f;color:#fff}
[data-side=left] .launch .note{right:auto;left:0}
.launch [hidden],.launch[hidden],.launch .note:empty{display:none}
@media ${small}{.launch[data-open]{display:none}}
@media print{.launch,.chat.corner{display:none}}
@media (forced-colors:active){.launch button{border:2px solid ButtonText}}
`

const bubble = 'M4 3h16a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2H9l-5 4v-4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z'
const cross =
  'm6.4 4.9 5.6 5.7 5.6-5.7 1.5 1.5-5.7 5.6 5.7 5.6-1.5 1.5-5.6-5.7-5.6 5.7-1.5-1.5 5.7-5.6-5.7-5.6z'

/** Puts the element on the page; in a corner with the button that opens and closes the chat. */
export function createHost(
  parent: Element,
  place: Place,
  configuration: Configuration,
  onPress: () => void,
): Host {
  const host = document.createElement('botstead-webchat')
  // Styles of a page lose against styles of an element that are important, and none of them reach further.
  const own: Record<string, string> =
    place === 'corner'
      ? { all: 'initial', position: 'fixed', 'z-index': '2147483647' }
      : { all: 'initial', display: 'block', height: '100%' }
  for (const [name, value] of Object.entries(own)) host.style.setProperty(name, value, 'important')
  const shadow = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  shadow.adoptedStyleSheets = [sheet]
  const root = add(shadow, 'div', place === 'corner' ? 'root' : 'root fill')
  const container = add(root, 'div', 'panel')

  // Shortcuts of the page are not meant for what is typed here.
  for (const type of ['keydown', 'keyup', 'keypress']) {
    shadow.addEventListener(type, (event) => event.stopPropagation())
  }

  const launch = add(root, 'section', 'launch')
  const button = add(launch, 'button')
  const count = add(launch, 'span', 'count')
  const note = add(launch, 'div', 'note')
  button.type = 'button'
  button.append(iconOf(bubble))
  button.addEventListener('click', onPress)
  count.hidden = true
  count.setAttribute('aria-hidden', 'true')
  note.setAttribute('role', 'status')
  if (place !== 'corner') launch.hidden = true

  let shown: State = 'closed'
  let unread = 0
  let look = configuration
  const render = () => {
    const text = words[languageOf(look)]
    launch.setAttribute('aria-label', text.chat)
    const isOpen = shown === 'open'
    const open = text.open.replace('$', () => look.botName ?? '')
    const news = unread > 0 ? `, ${text.unread.replace('#', String(unread))}` : ''
    button.setAttribute('aria-label', isOpen ? text.close : `${open}${news}`)
    button.setAttribute('aria-expanded', String(isOpen))
    button.setAttribute('aria-busy', String(shown === 'loading'))
    button.replaceChildren(iconOf(isOpen ? cross : bubble))
    launch.toggleAttribute('data-open', isOpen)
    count.hidden = unread === 0
    count.textContent = unread > 99 ? '99+' : String(unread)
    note.textContent = shown === 'failed' ? text.failed : ''
    if (shown === 'loading') note.textContent = text.loading
    note.style.opacity = shown === 'loading' ? '0' : '1'
  }
  const style = (changed: Configuration) => {
    look = changed
    applyLook(root, look)
    render()
  }
  // Keys must not reach what the chat covers.
  const screen = matchMedia(small)
  let coversPage = false
  const cover = () => {
    const covers = place === 'corner' && shown === 'open' && screen.matches
    if (covers !== coversPage) document.body.inert = covers
    coversPage = covers
  }
  screen.addEventListener('change', cover)
  matchMedia(dark).addEventListener('change', () => style(look))
  style(configuration)
  parent.append(host)
  return {
    container,
    show(state) {
      const wasOpen = shown === 'open'
      shown = state
      render()
      cover()
      if (wasOpen && state === 'closed') button.focus()
    },
    countUnread(number) {
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
