import { Type } from 'typebox'
import { AnyMap, Id, Timestamp } from '../../shared.js'

/** A person or program that takes part in conversations of a chat address. */
export const ChatUser = Type.Object(
  {
    id: Id('Id of the user: the one the app chose, else one made by the server.'),
    createdAt: Timestamp('When the user was made.'),
    updatedAt: Timestamp('When the user last changed.'),
    name: Type.Optional(Type.String({ description: 'Name shown to others.' })),
    pictureUrl: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    profile: Type.Optional(Type.String({ description: 'Free text about the user.' })),
  },
  { title: 'ChatUser', description: 'Somebody who takes part in conversations.' },
)

/** A conversation as its participants see it. */
export const ChatConversation = Type.Object(
  {
    id: Id('Id of the conversation: the one the app chose, else one made by the server.'),
    createdAt: Timestamp('When the conversation was made.'),
    updatedAt: Timestamp('When the conversation last changed.'),
  },
  { title: 'ChatConversation', description: 'A conversation as its participants see it.' },
)

/** A message as the participants see it. */
export const ChatMessage = Type.Object(
  {
    id: Id('Id of the message.'),
    createdAt: Timestamp('When the message was stored; strictly increasing within a conversation.'),
    conversationId: Id('Id of the conversation.'),
    userId: Id('Id of the author; messages of the bot carry the id of the bot.'),
    // Looser than what users may send: bots have message types of their own.
    payload: Type.Unsafe<{ type: string; [member: string]: unknown }>(
      Type.Object(
        { type: Type.String({ description: 'Kind of the message.' }) },
        {
          additionalProperties: true,
          description: 'Content of the message, as `MessagePayload`; bots may send further kinds.',
        },
      ),
    ),
    metadata: Type.Optional(AnyMap('Facts given beside the payload; absent when there are none.')),
  },
  { title: 'ChatMessage', description: 'A message as the participants see it.' },
)

/** A custom event as the participants see it. */
export const ChatEvent = Type.Object(
  {
    id: Id('Id of the event.'),
    createdAt: Timestamp('When the event was stored.'),
    conversationId: Id('Id of the conversation.'),
    userId: Id('Id of the user who sent it.'),
    payload: AnyMap('What was sent.'),
  },
  { title: 'ChatEvent', description: 'Something that a user told the bot beside messages.' },
)
