import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { OneOf, pageOf, paging, Text } from '../../shared.js'

/** The tag values of the objects of a bot. */
export const tags = {
  listValues: operation({
    id: 'listTagValues',
    method: 'GET',
    path: '/v1/chat/tags/{key}/values',
    tag: 'Conversations',
    summary: 'List the values of a tag of conversations, messages or users',
    auth: 'bot',
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
