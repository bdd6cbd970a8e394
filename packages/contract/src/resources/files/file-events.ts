import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, pageOf, paging, Timestamp } from '../../shared.js'

/** The types of file events. */
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
      description: 'Position in the log of the bot: one more than that of the previous event.',
    }),
    type: OneOf(
      [...fileEventTypes],
      'Kind of the event. `file_updated` is a new upsert of the key, or a change of the metadata.',
    ),
    fileId: Id('Id of the file, which may have been deleted since.'),
    key: Type.String({ description: 'Key of the file.' }),
    generation: Type.Integer({
      minimum: 1,
      description: 'Generation of the content: 1 for the first, one more per upsert.',
    }),
    indexingOmissions: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'With `file_indexing_completed` and `file_indexing_failed`: number of things of the content that were not read; absent if it is unknown.',
      }),
    ),
    createdAt: Timestamp('Time at which it happened.'),
  },
  { title: 'FileEvent', description: 'A change of a file.' },
)

/** The log of file events of a bot. */
export const fileEvents = {
  list: operation({
    id: 'listFileEvents',
    method: 'GET',
    path: '/v1/files/events',
    tag: 'Files',
    summary: 'List the file events of a bot',
    description:
      'Oldest first and without gaps. Call again with `after` to get new events. Events are kept for seven days: if the first event does not directly follow `after`, list the files again. Not available to integrations.',
    auth: 'bot',
    permission: 'files:read',
    query: Type.Object({
      ...paging,
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'Only events after this sequence number; 0, the default, returns all that are kept.',
        }),
      ),
    }),
    response: json(pageOf('events', FileEvent, 'Events, oldest first.')),
  }),
}
