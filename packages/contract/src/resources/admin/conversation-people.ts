import { Type } from 'typebox'
import { Id, OneOf } from '../../shared.js'

/** A participant of a conversation, or the author of a message in it. */
export const Person = Type.Object(
  {
    id: Id('Id of the user; the id of the bot for the bot itself.'),
    role: OneOf(['bot', 'user'], 'Whether it is the bot of the conversation or one of its users.'),
    name: Type.Optional(Type.String({ description: 'Name of the user; absent without one.' })),
  },
  { title: 'ConversationPerson', description: 'A participant or author, as people see it.' },
)
