import { Webchat } from '@botpress/webchat'
import { createRoot } from 'react-dom/client'

// VITE_CHAT is the chat address of a bot: http://localhost:8787/chat/<webhook id>
const address = new URL(import.meta.env.VITE_CHAT)
const clientId = address.pathname.split('/').at(-1)
// The address of web chats is next to the chat address. Without it, the package calls a server of its vendor.
const apiUrl = new URL('../webchat', address).href

const configuration = {
  botName: 'Hello bot',
  composerPlaceholder: 'Write a message',
  allowFileUpload: true,
  feedbackEnabled: true,
  conversationHistory: true,
}

createRoot(document.getElementById('root')).render(
  <main style={{ maxWidth: 480, height: '90vh', margin: '0 auto' }}>
    <h1>A React app</h1>
    <div style={{ height: 'calc(100% - 5rem)' }}>
      <Webchat apiUrl={apiUrl} clientId={clientId} configuration={configuration} />
    </div>
  </main>,
)
