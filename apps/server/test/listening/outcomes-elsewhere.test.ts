import { describe, expect, it, vi } from 'vitest'
import { existingClient } from '../existing-clients.js'
import { useRemote } from '../remote/server.js'
import { placesElsewhere, useServers } from '../tenancy/two-servers.js'
import { openWebchat, webchatAddress } from '../webchats.js'

describe.each(placesElsewhere)('a web chat at another process on $name', (place) => {
  const servers = useServers(place)
  const remote = useRemote()

  it.each([
    ['processed', 200],
    ['failed', 400],
  ])('learns that its message was %s', async (outcome, status) => {
    const { first, address, untimed } = servers()
    remote().behave(() => ({ status }))
    await untimed(async () => {
      const { bot } = await existingClient(first).createBot({ url: remote().url })
      const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
      const chat = await openWebchat(webchatAddress({ url: address }, webhookId))
      const { message } = await chat.client.createMessage({
        conversationId: chat.init.conversation.id,
        payload: { type: 'text', text: 'Hello' },
      })
      await vi.waitFor(() =>
        expect(chat.named('message_status_changed')).toContainEqual({
          message: expect.objectContaining({ id: message.id }),
          oldStatus: 'processing',
          newStatus: outcome,
        }),
      )
    })
  })
})
