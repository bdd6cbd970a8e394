import { Type } from 'typebox'
import { OneOf } from '../shared.js'

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
                OneOf(['standard', 'agent'], 'Accepted for existing clients; no effect.'),
              ),
              minimumParagraphLength: count(
                'Paragraphs of fewer characters are merged into the next, 0 to 1,000,000.',
              ),
              smartCleanup: flag('Accepted for existing clients; no effect.'),
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
              enable: flag('Accepted for existing clients; no effect.'),
              modelType: Type.Optional(
                OneOf(
                  ['inexpensive', 'balanced', 'accurate'],
                  'Accepted for existing clients; no effect.',
                ),
              ),
              minimumInputLength: count('Accepted for existing clients; no effect.'),
              outputTokenLimit: count('Accepted for existing clients; no effect.'),
              generateMasterSummary: flag('Accepted for existing clients; no effect.'),
            },
            { description: 'Accepted for existing clients; no effect.' },
          ),
        ),
        stack: Type.Optional(
          OneOf(['legacy', 'realtime-v1'], 'Accepted for existing clients; no effect.'),
        ),
        vision: Type.Optional(
          Type.Object(
            {
              transcribePages: pages('`true` or a list of pages. Accepted; no effect.'),
              indexPages: pages('`true` or a list of pages. Accepted; no effect.'),
            },
            { description: 'Accepted for existing clients; no effect.' },
          ),
        ),
      },
      { description: 'Settings of the indexing; all optional.' },
    ),
  },
  { title: 'Indexing', description: 'How the file is indexed. Kept in its metadata.' },
)
