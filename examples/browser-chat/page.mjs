import { Client } from '@botpress/chat'
import { follow } from './follow.mjs'
import { createOutbox } from './outbox.mjs'

const apiUrl = new URLSearchParams(location.search).get('chat')?.replace(/\/+$/, '')
const [status, list, drafts, waiting, input, form] = [
  '#status',
  '#messages',
  '#drafts',
  '#waiting',
  '#text',
  'form',
].map((selector) => document.querySelector(selector))

function itemOf(text, ...classes) {
  const item = document.createElement('li')
  item.textContent = text
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

/** The text of a message; other types show their payload. */
function textOf({ type, ...payload }) {
  if (type === 'bloc') return payload.items.map(textOf).join('\n')
  const text = payload.text ?? payload.markdown ?? payload.title
  if (text === undefined) return `[${type}] ${JSON.stringify(payload)}`
  const choices = payload.options ?? payload.actions ?? []
  return [text, ...choices.map(({ label }) => `• ${label}`)].join('\n')
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
    onChange(texts) {
      const unsent = texts.map((text) => itemOf(text, 'mine', 'waiting'))
      show(() => waiting.replaceChildren(...unsent))
    },
    onRefused(text, reason) {
      const item = itemOf(text, 'mine', 'refused')
      item.title = `Not sent: ${reason}`
      show(() => list.append(item, itemOf(item.title, 'reason')))
    },
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    outbox.add(input.value)
    input.value = ''
  })
  await follow({
    ...chat,
    onMessage({ id, userId, payload }) {
      const item = itemOf(textOf(payload), ...(userId === client.user.id ? ['mine'] : []))
      items.set(id, item)
      show(() => list.append(item))
    },
    onDelete(id) {
      items.get(id)?.remove()
    },
    onDrafts(texts) {
      show(() => drafts.replaceChildren(...texts.map((text) => itemOf(text, 'draft'))))
    },
    onState(state) {
      status.textContent = state
      if (state === 'open') outbox.flush()
    },
  })
}

run().catch((error) => {
  status.textContent = error.message
})
