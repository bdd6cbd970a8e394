// Controls the chat from the page. Modules run after the deferred script before them, so `botpress` exists.
const events = document.querySelector('#events')

// #region control
const { botpress } = window
// The user of the page, if it knows one: sent to the server when the chat is first opened.
botpress.updateUser({ name: 'Ada', data: { plan: 'gold' } })
botpress.on('webchat:opened', () => {
  events.textContent = 'The chat is open.'
})
botpress.on('webchat:closed', () => {
  events.textContent = 'The chat is closed.'
})
botpress.on('message', ({ payload }) => {
  events.textContent = `Last message: ${payload.text ?? payload.type}`
})
document.querySelector('#ask').addEventListener('click', ({ currentTarget }) => {
  botpress.open()
  botpress.sendMessage(currentTarget.textContent)
})
// #endregion
