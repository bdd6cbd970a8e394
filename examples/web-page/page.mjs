// What a page can do with its chat. Modules run after deferred scripts, so it is there already.
const { botpress } = window
const events = document.querySelector('#events')

// The user of the page, if it knows one. It is sent with the first message, and not before.
botpress.updateUser({ name: 'Ada', data: { plan: 'gold' } })

botpress.on('webchat:opened', () => {
  events.textContent = 'The chat is open.'
})
botpress.on('webchat:closed', () => {
  events.textContent = 'The chat is closed.'
})
botpress.on('message', ({ payload }) => {
  events.textContent = `Said last: ${payload.text ?? payload.type}`
})

document.querySelector('#ask').addEventListener('click', ({ currentTarget }) => {
  botpress.open()
  botpress.sendMessage(currentTarget.textContent)
})
