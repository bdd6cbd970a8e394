import { Type } from 'typebox'
import { OneOf } from '../../shared.js'

const count = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description }))

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

/** Pages of a document: all of them, or a list. Existing callers send other objects too. */
const pages = (description: string) => Type.Optional(Type.Unknown({ description }))

/** How a file is indexed. Options that need a language model are accepted and have no effect. */
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
            },
            { description: 'How the text is parsed.' },
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
            { description: 'How the text is split into passages.' },
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
  { title: 'Indexing', description: 'How the file is indexed. Stored in its metadata.' },
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
