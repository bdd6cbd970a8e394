import { Type } from 'typebox'
import { operation } from '../operation.js'
import {
  AnyMap,
  AnyMapInput,
  Empty,
  Id,
  OneOf,
  pageOf,
  paging,
  sortDirection,
  TagFilter,
  Tags,
  TagsInput,
  Text,
  Timestamp,
  wrap,
} from '../shared.js'
import { Indexing } from './indexing.js'

/** What has become of a file. Uploads and indexing move it on; clients poll it. */
export const fileStatuses = [
  'upload_pending',
  'upload_failed',
  'upload_completed',
  'indexing_pending',
  'indexing_failed',
  'indexing_completed',
] as const

/** Who besides the owner may reach a file. */
export const accessPolicies = ['public_content', 'integrations'] as const

const FileOwner = Type.Object(
  {
    type: OneOf(['bot', 'integration', 'user'], 'Kind of the owner.'),
    id: Type.Optional(Id('Id of the bot or user; absent with an integration.')),
    name: Type.Optional(Type.String({ description: 'Name of the integration.' })),
    alias: Type.Optional(
      Type.String({ description: 'Alias under which the integration is installed.' }),
    ),
  },
  { title: 'FileOwner', description: 'Who made the file.' },
)

const base = {
  id: Id('Id of the file.'),
  botId: Id('Id of the bot.'),
  key: Type.String({
    description: 'Name of the file, unique in the bot (and integration). May contain `/`.',
  }),
  url: Type.String({
    description:
      'Address of the content: permanent with the policy `public_content`, otherwise signed, for a short time, new at each read.',
  }),
  size: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'Size of the content in bytes; null until an upload has completed.',
  }),
  contentType: Type.String({ description: 'Media type of the content.' }),
  tags: Tags('Tags of the file.'),
  metadata: AnyMap('Free-form facts about the file.'),
  createdAt: Timestamp('When the file was made.'),
  updatedAt: Timestamp('When the file last changed.'),
  accessPolicies: Type.Array(OneOf([...accessPolicies], 'Who may reach it.'), {
    description:
      '`public_content`: anyone reads the content; `integrations`: every integration of the bot reads, lists and searches it.',
  }),
  index: Type.Boolean({ description: 'Whether the content is to be found by search.' }),
  status: OneOf(
    [...fileStatuses],
    'What has become of the file; `indexing_completed` means searchable.',
  ),
  failedStatusReason: Type.Optional(
    Type.String({ description: 'Why the upload or the indexing failed; only after a failure.' }),
  ),
  expiresAt: Type.Optional(Timestamp('When the file is deleted, to the minute; absent if never.')),
  owner: FileOwner,
  indexingStack: Type.Optional(
    OneOf(['v1', 'v2'], 'Which indexing made the passages; only on indexed files.'),
  ),
}

/** A file: its description, not its content. */
export const File = Type.Object(base, {
  title: 'File',
  description: 'A file: its description, not its content.',
})

/** A file whose content can be sent now. */
export const UploadableFile = Type.Object(
  {
    ...base,
    uploadUrl: Type.String({
      description:
        'Absolute, signed, expiring address to which the content is sent with PUT, without further credentials.',
    }),
  },
  { title: 'UploadableFile', description: 'A file whose content can be sent now.' },
)

/** Files of a bot. */
export const files = {
  upsert: operation({
    id: 'upsertFile',
    method: 'PUT',
    path: '/v1/files',
    tag: 'Files',
    summary: 'Create or update a file',
    description:
      'Describes the file; the content follows with PUT to `uploadUrl`. The same key again replaces the file: its former content and passages stay until the new ones are complete.',
    auth: 'bot',
    body: Type.Object({
      key: Text(
        1024,
        'Name of the file, unique in the bot, 1 to 1,024 characters and at most 2,048 bytes of UTF-8.',
        1,
      ),
      size: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Size of the content in bytes. Counts against the storage quota and, with `index`, against the vector quota; content of another size is refused.',
      }),
      tags: Type.Optional(
        TagsInput(
          'Tags of the file, each at most 2,048 bytes of UTF-8 in name and value together.',
        ),
      ),
      index: Type.Optional(
        Type.Boolean({
          description:
            'Whether the content is to be found by search; false by default. Not for files above 95 MB.',
        }),
      ),
      indexing: Type.Optional(Indexing),
      accessPolicies: Type.Optional(
        Type.Array(OneOf([...accessPolicies], 'Who may reach it.'), {
          maxItems: 10,
          description: 'Who besides the owner may reach the file; nobody by default.',
        }),
      ),
      contentType: Type.Optional(
        Text(
          255,
          'Media type, at most 255 characters; else from the extension of `key`, else `application/octet-stream`.',
        ),
      ),
      expiresAt: Type.Optional(
        Timestamp(
          'When to delete the file, in UTC: in the future, at most 90 days from now; seconds are ignored.',
        ),
      ),
      publicContentImmediatelyAccessible: Type.Optional(
        Type.Boolean({
          description:
            'With `public_content`: the content is readable as soon as it is there. The PUT to `uploadUrl` then carries `x-amz-tagging: public=true`.',
        }),
      ),
      metadata: Type.Optional(AnyMapInput('Free-form facts about the file.')),
    }),
    result: wrap('file', UploadableFile),
    status: 200,
    errors: ['QuotaExceeded', 'LimitExceeded'],
  }),
  list: operation({
    id: 'listFiles',
    method: 'GET',
    path: '/v1/files',
    tag: 'Files',
    summary: 'List the files of a bot',
    auth: 'bot',
    query: Type.Object({
      ...paging,
      sortField: Type.Optional(
        OneOf(
          ['key', 'size', 'createdAt', 'updatedAt', 'status'],
          'What to sort by; `createdAt` by default.',
        ),
      ),
      sortDirection: sortDirection('Order; `desc`, newest first, by default.'),
      tags: Type.Optional(TagFilter),
      ids: Type.Optional(
        Type.Array(Id('Id of a file.'), {
          maxItems: 50,
          description: 'Only these files; at most 50.',
        }),
      ),
      indexed: Type.Optional(
        Type.Boolean({ description: 'Only files with this value of `index`.' }),
      ),
    }),
    result: pageOf('files', File, 'Files in the order that was asked for.'),
    status: 200,
    errors: [],
  }),
  get: operation({
    id: 'getFile',
    method: 'GET',
    path: '/v1/files/{id}',
    tag: 'Files',
    summary: 'Get a file',
    auth: 'bot',
    params: Type.Object({
      id: Text(1024, 'Id or key of the file; a `/` in a key is percent-encoded.', 1),
    }),
    result: wrap('file', File),
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  remove: operation({
    id: 'deleteFile',
    method: 'DELETE',
    path: '/v1/files/{id}',
    tag: 'Files',
    summary: 'Delete a file, its content and its passages',
    auth: 'bot',
    params: Type.Object({
      id: Text(1024, 'Id or key of the file; a `/` in a key is percent-encoded.', 1),
    }),
    result: Empty,
    status: 200,
    errors: ['ResourceNotFound'],
  }),
}
