import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  DiscriminateByTags,
  Empty,
  Id,
  OneOf,
  Properties,
  PropertiesInput,
  PropertiesPatch,
  pageOf,
  paging,
  sorting,
  TagEquality,
  Tags,
  TagsInput,
  TagsPatch,
  TagsWanted,
  Text,
  Timestamp,
  timeRange,
  wrap,
  wrapFound,
} from '../../shared.js'
import { User } from './users.js'

/** An exchange of messages on a channel of an integration. */
export const Conversation = Type.Object(
  {
    id: Id('Id of the conversation.'),
    createdAt: Timestamp('Time at which the conversation was created.'),
    updatedAt: Timestamp('Time at which the conversation last changed.'),
    channel: Type.String({ description: 'Name of the channel.' }),
    integration: Type.String({ description: 'Alias of the integration the channel belongs to.' }),
    tags: Tags('Tags of the conversation.'),
    messageCount: Type.Integer({
      minimum: 0,
      description: 'Number of messages in the conversation.',
    }),
    currentTaskId: Type.Optional(Type.String({ description: 'Deprecated.' })),
    currentWorkflowId: Type.Optional(
      Type.String({
        description: 'Id of the workflow that runs in it; the newest of several.',
      }),
    ),
    properties: Type.Optional(
      Properties('Properties shared between the bot and its integrations.'),
    ),
  },
  { title: 'Conversation', description: 'An exchange of messages on a channel.' },
)

const integrationName = Type.Optional(
  Text(
    200,
    'Deprecated: alias of the integration that the conversation belongs to, the chat by default; need not be installed. 1 to 200 characters.',
    1,
  ),
)
const channel = Text(200, 'Name of the channel, 1 to 200 characters.', 1)
const sharedFacts = 'Properties shared between the bot and its integrations.'

/** Input of a get-or-create of a conversation. */
export const conversationWanted = {
  channel,
  tags: TagsWanted('conversation'),
  integrationName,
  properties: Type.Optional(PropertiesPatch(sharedFacts)),
}

const conversationId = Type.Object({ id: Id('Id of the conversation.') })
const membership = Type.Object({
  id: Id('Id of the conversation.'),
  userId: Id('Id of the user.'),
})

/** Conversations of a bot, as the bot and its integrations see them. */
export const conversations = {
  create: operation({
    id: 'createConversation',
    method: 'POST',
    path: '/v1/chat/conversations',
    tag: 'Conversations',
    summary: 'Create a conversation',
    description:
      'It has no participant yet: the first user of the chat address who opens it or writes to it becomes its owner.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      channel,
      tags: TagsInput('Tags of the conversation; may be empty.'),
      integrationName,
      properties: Type.Optional(PropertiesInput(sharedFacts)),
    }),
    response: json(wrap('conversation', Conversation)),
    status: 201,
    errors: ['LimitExceeded'],
    idempotent: true,
  }),
  get: operation({
    id: 'getConversation',
    method: 'GET',
    path: '/v1/chat/conversations/{id}',
    tag: 'Conversations',
    summary: 'Get a conversation',
    auth: 'bot',
    permission: 'conversations:read',
    params: conversationId,
    response: json(wrap('conversation', Conversation)),
    errors: ['ResourceNotFound'],
  }),
  list: operation({
    id: 'listConversations',
    method: 'GET',
    path: '/v1/chat/conversations',
    tag: 'Conversations',
    summary: 'List the conversations of a bot',
    auth: 'bot',
    permission: 'conversations:read',
    query: Type.Object({
      ...paging,
      ...sorting,
      tags: Type.Optional(TagEquality),
      participantIds: Type.Optional(
        Type.Array(Id('Id of a user.'), {
          maxItems: 50,
          description: 'Only conversations in which all of these users participate; at most 50.',
        }),
      ),
      integrationName: Type.Optional(
        Text(200, 'Only conversations of this integration, by name or alias.'),
      ),
      channel: Type.Optional(Text(200, 'Only conversations on this channel.')),
      ...timeRange('conversations created'),
      minMessageCount: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Only conversations with at least this many messages.',
        }),
      ),
      maxMessageCount: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Only conversations with at most this many messages.',
        }),
      ),
    }),
    response: json(pageOf('conversations', Conversation, 'Conversations in the requested order.')),
  }),
  getOrCreate: operation({
    id: 'getOrCreateConversation',
    method: 'POST',
    path: '/v1/chat/conversations/get-or-create',
    tag: 'Conversations',
    summary: 'Get or create a conversation by its tags',
    description:
      'Searches the conversations of the channel. If several calls request the same conversation at the same time, one creates it.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      ...conversationWanted,
      discriminateByTags: Type.Optional(DiscriminateByTags('conversation')),
    }),
    response: json(wrapFound('conversation', Conversation)),
    errors: ['LimitExceeded'],
  }),
  update: operation({
    id: 'updateConversation',
    method: 'PUT',
    path: '/v1/chat/conversations/{id}',
    tag: 'Conversations',
    summary: 'Update a conversation',
    description: 'Omitted fields keep their value; maps are merged.',
    auth: 'bot',
    permission: 'conversations:write',
    params: conversationId,
    body: Type.Object({
      tags: Type.Optional(TagsPatch('Tags of the conversation.')),
      properties: Type.Optional(PropertiesPatch(sharedFacts)),
      currentTaskId: Type.Optional(Text(200, 'Deprecated and ignored.')),
    }),
    response: json(wrap('conversation', Conversation)),
    errors: ['ResourceNotFound', 'LimitExceeded'],
  }),
  remove: operation({
    id: 'deleteConversation',
    method: 'DELETE',
    path: '/v1/chat/conversations/{id}',
    tag: 'Conversations',
    summary: 'Delete a conversation with its messages',
    auth: 'bot',
    permission: 'conversations:write',
    params: conversationId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  listParticipants: operation({
    id: 'listParticipants',
    method: 'GET',
    path: '/v1/chat/conversations/{id}/participants',
    tag: 'Conversations',
    summary: 'List the participants of a conversation',
    auth: 'bot',
    permission: 'conversations:read',
    params: conversationId,
    query: Type.Object(paging),
    response: json(pageOf('participants', User, 'Participants, newest user first.')),
    errors: ['ResourceNotFound'],
  }),
  addParticipant: operation({
    id: 'addParticipant',
    method: 'POST',
    path: '/v1/chat/conversations/{id}/participants',
    tag: 'Conversations',
    summary: 'Add a participant to a conversation',
    description: 'Adding an existing participant changes nothing.',
    auth: 'bot',
    permission: 'conversations:write',
    params: conversationId,
    body: Type.Object({ userId: Id('Id of the user.') }),
    response: json(wrap('participant', User)),
    errors: ['ResourceNotFound', 'ReferenceNotFound'],
  }),
  getParticipant: operation({
    id: 'getParticipant',
    method: 'GET',
    path: '/v1/chat/conversations/{id}/participants/{userId}',
    tag: 'Conversations',
    summary: 'Get a participant of a conversation',
    auth: 'bot',
    permission: 'conversations:read',
    params: membership,
    response: json(wrap('participant', User)),
    errors: ['ResourceNotFound'],
  }),
  removeParticipant: operation({
    id: 'removeParticipant',
    method: 'DELETE',
    path: '/v1/chat/conversations/{id}/participants/{userId}',
    tag: 'Conversations',
    summary: 'Remove a participant from a conversation',
    auth: 'bot',
    permission: 'conversations:write',
    params: membership,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}

/** The tag values of the objects of a bot. */
export const tags = {
  listValues: operation({
    id: 'listTagValues',
    method: 'GET',
    path: '/v1/chat/tags/{key}/values',
    tag: 'Conversations',
    summary: 'List the values of a tag of conversations, messages or users',
    auth: 'bot',
    permission: 'conversations:read',
    params: Type.Object({ key: Text(401, 'Name of the tag, 1 to 401 characters.', 1) }),
    query: Type.Object({
      ...paging,
      type: OneOf(['user', 'conversation', 'message'], 'Type of the objects with the tag.'),
    }),
    response: json(
      pageOf(
        'tags',
        Type.Object(
          { value: Type.String({ description: 'Value of the tag.' }) },
          { title: 'TagValue', description: 'One value.' },
        ),
        'Each value once, in no particular order.',
      ),
    ),
  }),
}
