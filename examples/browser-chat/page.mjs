import { Client } from '@botpress/chat'
import { follow } from './follow.mjs'
import { createOutbox } from './outbox.mjs'
import { elementsOf } from './payload.mjs'

const apiUrl = new URLSearchParams(location.search).get('chat')?.replace(/\/+$/, '')
const [status, list, drafts, typing, waiting, input, form] = [
  '#status',
  '#messages',
  '#drafts',
  '#typing',
  '#waiting',
  '#text',
  'form',
].map((selector) => document.querySelector(selector))

/** The text for each state of the connection. */
const states = {
  open: 'Connected.',
  broken: 'The connection is lost. Trying again; what you write is sent later.',
}

function itemOf(nodes, ...classes) {
  const item = document.createElement('li')
  item.append(...nodes)
  item.classList.add(...classes)
  return item
}

/** Changes the list and stays at its end, unless the user has scrolled up. */
function show(change) {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement
  const isAtEnd = scrollHeight - clientHeight - scrollTop < 50
  change()
  if (isAtEnd) form.scrollIntoView({ block: 'end' })
}

/** The user is kept in the browser: a reload continues the conversation. */
async function connect() {
  const name = `key ${apiUrl}`
  const userKey = localStorage.getItem(name) ?? undefined
  const client = await Client.connect({ apiUrl, ...(userKey && { userKey }) }).catch((error) => {
    if (error.code !== 401 || !userKey) throw error
    // The server has a new secret and no longer knows the user.
    return Client.connect({ apiUrl })
  })
  localStorage.setItem(name, client.user.key)
  return client
}

/** A first visit in two tabs at once creates one user. */
async function connectAlone() {
  return navigator.locks ? await navigator.locks.request(`key ${apiUrl}`, connect) : await connect()
}

async function run() {
  if (!apiUrl) throw new Error('Add ?chat=<chat address> of a bot to the address of this page.')
  const client = await connectAlone()
  const { conversation } = await client.getOrCreateConversation({ id: `web-${client.user.id}` })

  const chat = { client, apiUrl, userKey: client.user.key, conversationId: conversation.id }
  const items = new Map()
  const outbox = createOutbox({
    ...chat,
    storage: localStorage,
    onChange(payloads) {
      const unsent = payloads.map((each) => itemOf(elementsOf(each), 'mine', 'waiting'))
      show(() => waiting.replaceChildren(...unsent))
    },
    onRefused(payload, reason) {
      const item = itemOf(elementsOf(payload), 'mine', 'refused')
      show(() => list.append(item, itemOf([`Not sent: ${reason}`], 'reason')))
    },
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    outbox.add({ type: 'text', text: input.value })
    input.value = ''
  })
  let typingTimer
  /** Also ends after five seconds, because bots do not always send the end of typing. */
  function showTyping(isTyping) {
    clearTimeout(typingTimer)
    if (isTyping) typingTimer = setTimeout(showTyping, 5000, false)
    typing.textContent = isTyping ? 'The bot is writing …' : ''
  }
  const choose = (text, value) => outbox.add({ type: 'text', text, value })
  await follow({
    ...chat,
    onMessage({ id, userId, payload }) {
      const isMine = userId === client.user.id
      const item = itemOf(elementsOf(payload, choose), ...(isMine ? ['mine'] : []))
      items.set(id, item)
      if (!isMine) showTyping(false)
      show(() => list.append(item))
    },
    onDelete(id) {
      items.get(id)?.remove()
    },
    onDrafts(texts) {
      show(() => drafts.replaceChildren(...texts.map((text) => itemOf([text], 'draft'))))
    },
    onTyping: showTyping,
    onState(state) {
      status.textContent = states[state]
      if (state === 'open') outbox.flush()
    },
  })
}

run().catch((error) => {
  status.textContent = error.message
})
