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
                'Paragraphs of fewer characters are merged into the next, 0 to 1,000,000.',
              ),
              smartCleanup: flag('Accepted for existing clients; has no effect.'),
            },
            { description: 'How the text is read.' },
          ),
        ),
        chunking: Type.Optional(
          Type.Object(
            {
              maximumChunkLength: count('Longest passage in characters, 0 to 1,000,000.'),
              embeddedContextLevels: count(
                'How many levels of headings count for the vector, 0 to 1,000,000.',
              ),
              embedBreadcrumb: flag('Whether the path of headings counts for the vector.'),
            },
            { description: 'How the text is cut into passages.' },
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
              transcribePages: pages('`true` or a list of pages. Accepted; no effect.'),
              indexPages: pages('`true` or a list of pages. Accepted; no effect.'),
            },
            { description: 'Accepted for existing clients; has no effect.' },
          ),
        ),
      },
      { description: 'Settings of the indexing; all optional.' },
    ),
  },
  { title: 'Indexing', description: 'How the file is indexed. Kept in its metadata.' },
)

/** What is being done with a file that waits to be searchable. */
const indexingSteps = ['extract', 'chunk', 'embed', 'publish'] as const

/** How far the indexing of a file is. */
export const IndexingProgress = Type.Object(
  {
    step: OneOf(
      [...indexingSteps],
      '`extract`: the content is read; `chunk`: it is cut into passages; `embed`: the passages are written to the index; `publish`: they are about to be found.',
    ),
    percent: Type.Integer({ minimum: 0, maximum: 100, description: 'Of all steps together.' }),
    pages: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Pages read so far; only where there are pages.' }),
    ),
    passages: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Passages that are in the index.' }),
    ),
    passagesTotal: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Passages that the file has; once it is read.' }),
    ),
    attempt: Type.Integer({ minimum: 1, description: 'Which attempt this is, from 1.' }),
  },
  {
    title: 'IndexingProgress',
    description:
      'How far the indexing is; only while the status is `indexing_pending` and it has begun.',
  },
)
