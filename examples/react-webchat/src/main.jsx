// #region page
import { Webchat } from '@botpress/webchat'
import { createRoot } from 'react-dom/client'

// The chat address of a bot: http://localhost:8787/chat/<webhook id>
const address = new URL(import.meta.env.VITE_CHAT)
const clientId = address.pathname.split('/').at(-1)
// The address of web chats is next to the chat address. Without it, the package calls a server of its vendor.
const apiUrl = new URL('../webchat', address).href
const configuration = { botName: 'Hello bot', allowFileUpload: true, conversationHistory: true }

createRoot(document.getElementById('root')).render(
  <main style={{ maxWidth: 480, height: '90vh', margin: '0 auto' }}>
    <Webchat apiUrl={apiUrl} clientId={clientId} configuration={configuration} />
  </main>,
)
// #endregion
