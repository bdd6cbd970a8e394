import { Client } from '@botpress/chat'
import { follow } from './follow.mjs'
import { createOutbox } from './outbox.mjs'

const apiUrl = new URLSearchParams(location.search).get('chat')?.replace(/\/+$/, '')
const [status, list, input, form] = ['#status', '#messages', '#text', 'form'].map((selector) =>
  document.querySelector(selector),
)

function addItem(text, ...classes) {
  const item = document.createElement('li')
  item.textContent = text
  item.classList.add(...classes)
  list.append(item)
}

/** What a message says; the kinds without words show what they hold. */
function textOf({ type, ...payload }) {
  if (type === 'bloc') return payload.items.map(textOf).join('\n')
  return payload.text ?? payload.markdown ?? payload.title ?? `[${type}] ${JSON.stringify(payload)}`
}

async function run() {
  if (!apiUrl) throw new Error('Add ?chat=<chat address> of a bot to the address of this page.')
  // Who is writing, and where, is kept in the browser: a reload goes on with the conversation.
  const userKey = localStorage.getItem(`key ${apiUrl}`) ?? undefined
  const client = await Client.connect({ apiUrl, ...(userKey && { userKey }) })
  localStorage.setItem(`key ${apiUrl}`, client.user.key)
  const { conversation } = await client.getOrCreateConversation({ id: `web-${client.user.id}` })

  const room = { client, apiUrl, userKey: client.user.key, conversationId: conversation.id }
  const outbox = createOutbox({
    ...room,
    storage: localStorage,
    onChange(texts) {
      for (const item of list.querySelectorAll('.waiting')) item.remove()
      for (const text of texts) addItem(text, 'mine', 'waiting')
    },
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    outbox.add(input.value)
    input.value = ''
  })
  await follow({
    ...room,
    onMessage({ userId, payload }) {
      const isMine = userId === client.user.id
      addItem(textOf(payload), ...(isMine ? ['mine'] : []))
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
