import { Type } from 'typebox'
import { Id, Text, Url } from '../../shared.js'

export const webhookId = Id('Webhook id of the bot: `webhookId` of its integration `chat`.')

/** Path of operations that identify only the bot. */
export const address = Type.Object({ webhookId })

/** An id chosen by the app. */
export const ForeignId = (description: string) =>
  Type.String({ minLength: 1, maxLength: 70, pattern: '^[A-Za-z0-9_/\\\\-]+$', description })

/** What users can set in their own profile. */
export const profile = {
  name: Type.Optional(Text(1000, 'Name shown to others, at most 1,000 characters.')),
  pictureUrl: Type.Optional(Url('URL of a picture, at most 65,536 characters.')),
  profile: Type.Optional(Text(1000, 'Free text about the user, at most 1,000 characters.')),
}

/** Path of operations on one conversation, as a resource of its own. */
export const conversationById = Type.Object({ webhookId, id: Id('Id of the conversation.') })

/** Path of operations on the contents of a conversation. */
export const inConversation = Type.Object({
  webhookId,
  conversationId: Id('Id of the conversation.'),
})
