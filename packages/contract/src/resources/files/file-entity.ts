import { Type } from 'typebox'
import { AnyMap, Id, OneOf, Tags, Timestamp } from '../../shared.js'

const count = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description }))

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

/** Pages of a document: all of them, or a list. Existing callers send other objects too. */
const pages = (description: string) => Type.Optional(Type.Unknown({ description }))

/** Options of indexing. Those that need a language model are accepted and have no effect. */
export const Indexing = Type.Object(
  {
    configuration: Type.Object(
      {
        parsing: Type.Optional(
          Type.Object(
            {
              mode: Type.Optional(
                OneOf(['standard', 'agent'], 'Accepted for existing clients; has no effect.'),
              ),
              minimumParagraphLength: count(
                'Paragraphs with fewer characters are merged into the next, 0 to 1,000,000.',
              ),
              smartCleanup: flag('Accepted for existing clients; has no effect.'),
              allowPartial: flag(
                'Whether to index a document even if nothing could be read of more than half of its pages, slides, sheets or chapters. False by default: its indexing fails.',
              ),
            },
            { description: 'Options of parsing.' },
          ),
        ),
        chunking: Type.Optional(
          Type.Object(
            {
              maximumChunkLength: count('Longest passage in characters, 0 to 1,000,000.'),
              embeddedContextLevels: count(
                'Number of heading levels included in the vector, 0 to 1,000,000.',
              ),
              embedBreadcrumb: flag('Whether the vector includes the path of headings.'),
            },
            { description: 'Options of splitting the text into passages.' },
          ),
        ),
        summarization: Type.Optional(
          Type.Object(
            {
              enable: flag('Accepted for existing clients; has no effect.'),
              modelType: Type.Optional(
                OneOf(
                  ['inexpensive', 'balanced', 'accurate'],
                  'Accepted for existing clients; has no effect.',
                ),
              ),
              minimumInputLength: count('Accepted for existing clients; has no effect.'),
              outputTokenLimit: count('Accepted for existing clients; has no effect.'),
              generateMasterSummary: flag('Accepted for existing clients; has no effect.'),
            },
            { description: 'Accepted for existing clients; has no effect.' },
          ),
        ),
        stack: Type.Optional(
          OneOf(['legacy', 'realtime-v1'], 'Accepted for existing clients; has no effect.'),
        ),
        vision: Type.Optional(
          Type.Object(
            {
              transcribePages: pages(
                '`true` or a list of pages. Accepted for existing clients; has no effect.',
              ),
              indexPages: pages(
                '`true` or a list of pages. Accepted for existing clients; has no effect.',
              ),
            },
            { description: 'Accepted for existing clients; has no effect.' },
          ),
        ),
      },
      { description: 'Indexing settings; all optional.' },
    ),
  },
  { title: 'Indexing', description: 'Options of indexing. Stored in the metadata of the file.' },
)

/** The steps of indexing a file. */
const indexingSteps = ['extract', 'chunk', 'embed', 'publish'] as const

/** The indexing progress of a file. */
export const IndexingProgress = Type.Object(
  {
    step: OneOf(
      [...indexingSteps],
      '`extract`: the content is read; `chunk`: it is split into passages; `embed`: the passages are written to the index; `publish`: the passages are made searchable.',
    ),
    percent: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Progress over all steps, in percent.',
    }),
    pages: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Pages read so far; only for documents with pages.',
      }),
    ),
    passages: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Number of passages in the index.' }),
    ),
    passagesTotal: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Number of passages of the file; once it is read.' }),
    ),
    attempt: Type.Integer({ minimum: 1, description: 'Number of this attempt, from 1.' }),
  },
  {
    title: 'IndexingProgress',
    description:
      'The indexing progress; only while the status is `indexing_pending` and the indexing has started.',
  },
)

/** The statuses of a file. Uploads and indexing change them; clients poll them. */
export const fileStatuses = [
  'upload_pending',
  'upload_failed',
  'upload_completed',
  'indexing_pending',
  'indexing_failed',
  'indexing_completed',
] as const

/** Policies that give others than the owner access to a file. */
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
  createdAt: Timestamp('Time at which the file was created.'),
  updatedAt: Timestamp('Time at which the file last changed.'),
  accessPolicies: Type.Array(OneOf([...accessPolicies], 'Policy that gives access to the file.'), {
    description:
      '`public_content`: anyone can read the content; `integrations`: every integration of the bot can read, list and search it.',
  }),
  index: Type.Boolean({ description: 'Whether search finds the content.' }),
  status: OneOf([...fileStatuses], 'Status of the file; `indexing_completed` means searchable.'),
  failedStatusReason: Type.Optional(
    Type.String({
      description: 'Reason why the upload or the indexing failed; only after a failure.',
    }),
  ),
  expiresAt: Type.Optional(
    Timestamp('Time at which the file is deleted, to the minute; absent if never.'),
  ),
  owner: FileOwner,
  indexingProgress: Type.Optional(IndexingProgress),
  indexingOmissions: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Number of things that were not read when the file was last indexed; `getFileIndexingReport` lists them. Absent if it is unknown.',
    }),
  ),
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
