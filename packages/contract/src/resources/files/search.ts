import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { AnyMap, Id, OneOf, TagFilter, Tags, TextOfBytes, Timestamp } from '../../shared.js'

export const searchLimitDefault = 20
export const searchLimitMaximum = 50
export const contextDepthMaximum = 10

/** What a passage is made of. */
export const passageTypes = ['chunk', 'summary', 'consolidated', 'image'] as const

/** What the passage was in its file. */
export const passageSubtypes = [
  'title',
  'subtitle',
  'paragraph',
  'blockquote',
  'list',
  'table',
  'code',
  'image',
  'page',
] as const

const Leg = (what: string) =>
  Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `By ${what}, from 0 to 1; absent if not found by it.`,
    }),
  )

/** Where a passage stands in its file. */
export const PassageMeta = Type.Object(
  {
    type: Type.Optional(OneOf([...passageTypes], 'What the passage is made of.')),
    subtype: Type.Optional(OneOf([...passageSubtypes], 'What it was in its file.')),
    pageNumber: Type.Optional(
      Type.Integer({ description: 'Page of the document, from 1; only where there are pages.' }),
    ),
    position: Type.Optional(
      Type.Integer({ description: 'Place in the file, from 0, in reading order.' }),
    ),
    sourceUrl: Type.Optional(Type.String({ description: 'Address the passage was taken from.' })),
  },
  { title: 'PassageMeta', description: 'Where the passage stands in its file.' },
)

/** A part of a file that answers the query. */
export const Passage = Type.Object(
  {
    content: Type.String({ description: 'Text of the passage.' }),
    score: Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'How much of the query the passage answers, from 0 to 1: its words by how rare they are, their letters, and its meaning. The list is sorted by it. Comparable between queries; most of what has nothing to do with the query is below 0.4.',
    }),
    meta: PassageMeta,
    file: Type.Object(
      {
        id: Id('Id of the file.'),
        key: Type.String({ description: 'Key of the file.' }),
        contentType: Type.String({ description: 'Media type of the file.' }),
        metadata: AnyMap('Metadata of the file.'),
        tags: Tags('Tags of the file.'),
        createdAt: Timestamp('When the file was made.'),
        updatedAt: Timestamp('When the file last changed.'),
      },
      { title: 'PassageFile', description: 'The file that holds the passage.' },
    ),
    context: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: Type.Optional(
              Type.String({ description: 'Id of the passage, a UUID; absent for breadcrumbs.' }),
            ),
            text: Type.String({ description: 'Text of the passage.' }),
            offset: Type.Optional(
              Type.Integer({
                description:
                  'Passages from the match: negative before, positive after; absent for breadcrumbs.',
              }),
            ),
            type: OneOf(
              ['preceding', 'subsequent', 'current', 'breadcrumb'],
              'Where it stands from the match.',
            ),
          },
          { title: 'PassageContext', description: 'One passage of the surroundings.' },
        ),
        { description: 'The match and its surroundings in reading order; with `withContext`.' },
      ),
    ),
    explanation: Type.Optional(
      Type.Object(
        {
          keyword: Leg('its words'),
          grams: Leg('the letters of its words, which forgives typing errors'),
          semantic: Leg('its meaning'),
        },
        {
          title: 'PassageExplanation',
          description:
            'How well each way of looking found the passage, before they were brought together; with `explain`. With `consolidate`, of the best match.',
        },
      ),
    ),
  },
  { title: 'Passage', description: 'A part of a file that answers the query.' },
)

/** Search in the indexed files of a bot. */
export const search = {
  files: operation({
    id: 'searchFiles',
    method: 'GET',
    path: '/v1/files/search',
    tag: 'Search',
    summary: 'Search the indexed files of a bot',
    description:
      'Best match first. Only files that the caller may see, whose indexing is complete and whose tags match are searched. Text without a letter or digit finds nothing. When a way of looking is not available, the others answer, and the header `x-search-degraded` names it: `semantic-pending` while the first vectors of the bot are made, `semantic-unavailable` without vectors in the database, `embeddings-unavailable` when the endpoint for embeddings does not answer.',
    auth: 'bot',
    query: Type.Object({
      query: TextOfBytes(
        2048,
        'What is looked for, in natural language; 1 to 2,048 bytes of UTF-8, not only white space.',
        1,
      ),
      tags: Type.Optional(TagFilter),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: searchLimitMaximum,
          default: searchLimitDefault,
          description: `Passages at most, 1 to ${searchLimitMaximum}, ${searchLimitDefault} by default.`,
        }),
      ),
      contextDepth: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: contextDepthMaximum,
          default: 1,
          description:
            'How many neighbours are put before and after the content of each passage, 0 to 10, 1 by default. With `withContext` the same neighbours are listed in `context` too.',
        }),
      ),
      consolidate: Type.Optional(
        Type.Boolean({
          description:
            'One passage per file, with its matches and their neighbours in reading order, each once, under their headings. `limit` counts the matches before they are brought together.',
        }),
      ),
      includeBreadcrumb: Type.Optional(
        Type.Boolean({
          description:
            'Puts the headings above the content. A document without a title has the name of its file there. Ignored with `consolidate`.',
        }),
      ),
      withContext: Type.Optional(
        Type.Boolean({
          description: 'Adds `context` to each passage. Not with `consolidate`.',
        }),
      ),
      minScore: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Leaves out passages with a lower score, 0 to 1; 0 by default.',
        }),
      ),
      explain: Type.Optional(
        Type.Boolean({
          description: 'Adds `explanation` to each passage: what each way of looking found.',
        }),
      ),
    }),
    answer: {
      kind: 'json',
      schema: Type.Object({
        passages: Type.Array(Passage, { description: 'Passages, best match first.' }),
      }),
    },
    status: 200,
    errors: [],
  }),
}
