import { Type } from 'typebox'
import { AnyMap, Id, OneOf, Tags, Timestamp } from '../../shared.js'
import { IndexingProgress } from './indexing.js'

/** The statuses of a file. Uploads and indexing change them; clients poll them. */
export const fileStatuses = [
  'upload_pending',
  'upload_failed',
  'upload_completed',
  'indexing_pending',
  'indexing_failed',
  'indexing_completed',
] as const

/** Who besides the owner has access to a file. */
export const accessPolicies = ['public_content', 'integrations'] as const

const FileOwner = Type.Object(
  {
    type: OneOf(['bot', 'integration', 'user'], 'Type of the owner.'),
    id: Type.Optional(Id('Id of the bot or user; absent for an integration.')),
    name: Type.Optional(Type.String({ description: 'Name of the integration.' })),
    alias: Type.Optional(
      Type.String({ description: 'Alias under which the integration is installed.' }),
    ),
  },
  { title: 'FileOwner', description: 'Owner of the file: who created it.' },
)

const base = {
  id: Id('Id of the file.'),
  botId: Id('Id of the bot.'),
  key: Type.String({
    description: 'Name of the file, unique in the bot (and integration). May contain `/`.',
  }),
  url: Type.String({
    description:
      'URL of the content: permanent with the policy `public_content`; otherwise signed, short-lived and new on every read.',
  }),
  size: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'Size of the content in bytes; null until an upload has completed.',
  }),
  sha256: Type.Optional(
    Type.String({
      description: 'SHA-256 of the content in hex; absent until an upload has completed.',
    }),
  ),
  contentType: Type.String({ description: 'Media type of the content.' }),
  tags: Tags('Tags of the file.'),
  metadata: AnyMap('Free-form metadata of the file.'),
  createdAt: Timestamp('When the file was created.'),
  updatedAt: Timestamp('When the file last changed.'),
  accessPolicies: Type.Array(OneOf([...accessPolicies], 'Who has access to the file.'), {
    description:
      '`public_content`: anyone can read the content; `integrations`: every integration of the bot can read, list and search it.',
  }),
  index: Type.Boolean({ description: 'Whether search finds the content.' }),
  status: OneOf([...fileStatuses], 'Status of the file; `indexing_completed` means searchable.'),
  failedStatusReason: Type.Optional(
    Type.String({ description: 'Why the upload or the indexing failed; only after a failure.' }),
  ),
  expiresAt: Type.Optional(Timestamp('When the file is deleted, to the minute; absent if never.')),
  owner: FileOwner,
  indexingProgress: Type.Optional(IndexingProgress),
  indexingStack: Type.Optional(
    OneOf(
      ['v1', 'v2'],
      'Version of the indexing that created the passages; only on indexed files.',
    ),
  ),
}

/** A file: its metadata, not its content. */
export const File = Type.Object(base, {
  title: 'File',
  description: 'A file: its metadata, not its content.',
})

/** A file whose content can be uploaded now. */
export const UploadableFile = Type.Object(
  {
    ...base,
    size: Type.Integer({ minimum: 0, description: 'Size of the content in bytes, as declared.' }),
    uploadUrl: Type.String({
      description:
        'Absolute, signed, expiring URL for uploading the content with PUT, without further credentials.',
    }),
  },
  { title: 'UploadableFile', description: 'A file whose content can be uploaded now.' },
)
