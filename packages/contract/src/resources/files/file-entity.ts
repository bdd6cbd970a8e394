import { Type } from 'typebox'
import { AnyMap, Id, OneOf, Tags, Timestamp } from '../../shared.js'
import { IndexingProgress } from './indexing.js'

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
  sha256: Type.Optional(
    Type.String({
      description: 'SHA-256 of the content in hex; absent until an upload has completed.',
    }),
  ),
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
  indexingProgress: Type.Optional(IndexingProgress),
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
    size: Type.Integer({ minimum: 0, description: 'Size of the content in bytes, as declared.' }),
    uploadUrl: Type.String({
      description:
        'Absolute, signed, expiring address to which the content is sent with PUT, without further credentials.',
    }),
  },
  { title: 'UploadableFile', description: 'A file whose content can be sent now.' },
)
