import { small } from '../loader/host.js'
import type { Configuration } from '../shared/bridge.js'

/**
 * The page of a preview: the real chat with the settings that the page around it sends, and without the server. It
 * speaks to a page of its own origin only.
 */
const fromParent = 'webchat-preview-settings'
const toParent = 'webchat-preview-ready'

const script = document.currentScript
if (script instanceof HTMLScriptElement && parent !== window) start(new URL('.', script.src))

function start(base: URL): void {
  let settings: Configuration | undefined
  const server = createStandIn(() => settings)
  window.fetch = async (input, init) =>
    server(new URL(String(input), base).pathname.slice(base.pathname.length), init)

  window.addEventListener('message', ({ source, origin, data }) => {
    if (source !== parent || origin !== location.origin || data?.type !== fromParent) return
    const isFirst = settings === undefined
    settings = Object(data.settings) as Configuration
    if (isFirst) show(base)
    else Reflect.get(window, 'botpress')?.config({ configuration: settings })
  })
  parent.postMessage({ type: toParent }, location.origin)
}

function show(base: URL): void {
  const chat = document.createElement('script')
  chat.src = `${base.href}inject.js`
  chat.dataset.open = ''
  // On a small screen an open chat covers the page and takes the focus from the page around this one.
  if (matchMedia(small).matches) {
    chat.dataset.selector = '#chat'
  }
  document.body.append(chat)
}

const id = 'preview'

/** Stands in for the server: a conversation that nobody stores, with a bot that says so. */
function createStandIn(settingsOf: () => Configuration | undefined) {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined
  let count = 0
  const send = (type: string, data: object) =>
    stream?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ type, data })}\n\n`))
  const say = (userId: string, message: object) => {
    count += 1
    const createdAt = new Date().toISOString()
    send('message_created', {
      id: `${id}-${count}`,
      conversationId: id,
      userId,
      createdAt,
      ...message,
    })
  }

  return (path: string, init?: RequestInit): Response => {
    const [called = ''] = path.split('/')
    switch (called) {
      case 'config':
        return Response.json(settingsOf())
      case 'initialize': {
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            stream = controller
          },
        })
        const conversation = { id, createdAt: new Date().toISOString() }
        send('init', { conversation, messages: [], participants: [], user: { id, userKey: id } })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      }
      case 'messages': {
        if (init?.method === 'POST') {
          const { payload, metadata } = JSON.parse(String(init.body))
          say(id, { payload, metadata })
          const text = 'This is a preview: nothing is sent to the bot.'
          say('bot', { payload: { type: 'text', text } })
        }
        return Response.json({})
      }
      case 'files':
        return Response.json({ message: 'The preview sends no files.' }, { status: 403 })
      case 'conversations':
        return Response.json({ conversations: [] })
      case 'events':
        return Response.json({ event: { payload: {} } })
      default:
        return Response.json({ user: { id } })
    }
  }
}
