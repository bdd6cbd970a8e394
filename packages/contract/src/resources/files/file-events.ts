import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Id, OneOf, pageOf, paging, Timestamp } from '../../shared.js'

/** What can happen to a file. */
export const fileEventTypes = [
  'file_created',
  'file_updated',
  'file_upload_completed',
  'file_upload_failed',
  'file_indexing_completed',
  'file_indexing_failed',
  'file_deleted',
] as const

const FileEvent = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 1,
      description: 'Place in the log of the bot: one more than that of the event before.',
    }),
    type: OneOf(
      [...fileEventTypes],
      'What happened. `file_updated` is a new upsert of the key, or a change of what is said of the file.',
    ),
    fileId: Id('Id of the file, which may be gone by now.'),
    key: Type.String({ description: 'Key of the file.' }),
    generation: Type.Integer({
      minimum: 1,
      description: 'Which content of the file it is about: 1 for the first, one more per upsert.',
    }),
    createdAt: Timestamp('When it happened.'),
  },
  { title: 'FileEvent', description: 'Something that happened to a file.' },
)

/** The log of what happened to the files of a bot. */
export const fileEvents = {
  list: operation({
    id: 'listFileEvents',
    method: 'GET',
    path: '/v1/files/events',
    tag: 'Files',
    summary: 'List what happened to the files of a bot',
    description:
      'Oldest first and without gaps. Ask again with `after` to hear of what is new. Events are kept for seven days: when the first one is not the one after `after`, list the files again. Not for integrations.',
    auth: 'bot',
    query: Type.Object({
      ...paging,
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Only events after this sequence; 0 by default, for all that are kept.',
        }),
      ),
    }),
    answer: { kind: 'json', schema: pageOf('events', FileEvent, 'Events, oldest first.') },
    status: 200,
    errors: [],
  }),
}
