import * as bp from '.botpress'

export default new bp.Integration({
  register: async () => {},
  unregister: async () => {},
  actions: {
    greet: async ({ input }) => ({ greeting: `Hello ${input.name}` }),
  },
  channels: {
    direct: {
      messages: {
        text: async ({ ctx, conversation, payload }) => {
          const response = await fetch(`${ctx.configuration.serviceUrl}/messages`, {
            method: 'POST',
            headers: { authorization: `Bearer ${bp.secrets.API_KEY}` },
            body: JSON.stringify({ to: conversation.tags.id, text: payload.text }),
          })
          if (!response.ok) throw new Error(`The service responded with ${response.status}`)
        },
      },
    },
  },
  handler: async ({ req, client }) => {
    const { from, text } = JSON.parse(req.body ?? '{}')
    const { user } = await client.getOrCreateUser({ tags: { id: from } })
    const { conversation } = await client.getOrCreateConversation({
      channel: 'direct',
      tags: { id: from },
    })
    await client.createMessage({
      type: 'text',
      conversationId: conversation.id,
      userId: user.id,
      payload: { text },
      tags: {},
    })
  },
})
