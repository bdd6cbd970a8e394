import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMap, Id, OneOf, TagFilter, Tags, TextOfBytes, Timestamp } from '../../shared.js'

export const searchLimitDefault = 20
export const maxSearchLimit = 50
export const maxContextDepth = 10

/** Origins of passages. */
export const passageTypes = ['chunk', 'summary', 'consolidated', 'image'] as const

/** The types of passages that a caller can provide. */
export const givenPassageTypes = [
  'title',
  'subtitle',
  'paragraph',
  'blockquote',
  'list',
  'table',
  'code',
  'image',
] as const

/** The parts of a document that a passage can contain. */
export const passageSubtypes = [...givenPassageTypes, 'page'] as const

const RetrieverScore = (what: string) =>
  Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `Score by ${what}, from 0 to 1; absent if this retriever did not find the passage.`,
    }),
  )

/** The position of a passage in its file. */
export const PassageMeta = Type.Object(
  {
    type: Type.Optional(OneOf([...passageTypes], 'Origin of the passage.')),
    subtype: Type.Optional(
      OneOf([...passageSubtypes], 'Part of the document that the passage contains.'),
    ),
    pageNumber: Type.Optional(
      Type.Integer({ description: 'Page of the document, from 1; only for documents with pages.' }),
    ),
    position: Type.Optional(
      Type.Integer({ description: 'Position in the file, from 0, in reading order.' }),
    ),
    sourceUrl: Type.Optional(Type.String({ description: 'URL that the passage was taken from.' })),
  },
  { title: 'PassageMeta', description: 'The position of the passage in its file.' },
)

/** Members of a passage that was found. */
export const passageMembers = {
  content: Type.String({ description: 'Text of the passage.' }),
  score: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      'Measure of the match between passage and query, from 0 to 1: its words weighted by rarity, their letters, and its meaning. The list is sorted by it. Comparable between queries: results below 0.4 are probably about something else.',
  }),
  meta: PassageMeta,
  file: Type.Object(
    {
      id: Id('Id of the file.'),
      key: Type.String({ description: 'Key of the file.' }),
      contentType: Type.String({ description: 'Media type of the file.' }),
      metadata: AnyMap('Metadata of the file.'),
      tags: Tags('Tags of the file.'),
      createdAt: Timestamp('Time at which the file was created.'),
      updatedAt: Timestamp('Time at which the file last changed.'),
    },
    { title: 'PassageFile', description: 'The file that contains the passage.' },
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
                'Distance from the match in passages: negative before, positive after; absent for breadcrumbs.',
            }),
          ),
          type: OneOf(
            ['preceding', 'subsequent', 'current', 'breadcrumb'],
            'Position relative to the match.',
          ),
        },
        { title: 'PassageContext', description: 'One passage of the context.' },
      ),
      { description: 'The match and its context in reading order; with `withContext`.' },
    ),
  ),
  explanation: Type.Optional(
    Type.Object(
      {
        keyword: RetrieverScore('its words'),
        grams: RetrieverScore('the letters of its words, which tolerates typing errors'),
        semantic: RetrieverScore('its meaning'),
      },
      {
        title: 'PassageExplanation',
        description:
          'Scores of the retrievers before they were combined; with `explain`. With `consolidate`, those of the best match.',
      },
    ),
  ),
}

/** A part of a file that matches the query. */
export const Passage = Type.Object(passageMembers, {
  title: 'Passage',
  description: 'A part of a file that matches the query.',
})

/** The query of a search. */
export const searchQuery = {
  query: TextOfBytes(
    2048,
    'Query in natural language; 1 to 2,048 bytes of UTF-8, not only white space.',
    1,
  ),
  tags: Type.Optional(TagFilter),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxSearchLimit,
      default: searchLimitDefault,
      description: `Maximum number of passages, 1 to ${maxSearchLimit}, ${searchLimitDefault} by default.`,
    }),
  ),
  contextDepth: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxContextDepth,
      default: 1,
      description:
        'Number of neighbouring passages to add before and after the content of each passage, 0 to 10, 1 by default. With `withContext`, `context` lists the same neighbours.',
    }),
  ),
  consolidate: Type.Optional(
    Type.Boolean({
      description:
        'Returns one passage per file, with its matches and their neighbours in reading order, each once, under their headings. `limit` counts the matches before they are combined.',
    }),
  ),
  includeBreadcrumb: Type.Optional(
    Type.Boolean({
      description:
        'Adds the headings above the content. For a document without a title, the name of its file is used. Ignored with `consolidate`.',
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
      description:
        'Omits passages with a lower score, 0 to 1; 0 by default. 0.4 is advised for answers that must be right.',
    }),
  ),
  explain: Type.Optional(
    Type.Boolean({
      description: 'Adds `explanation` to each passage: the scores of each retriever.',
    }),
  ),
}

/** Search in the indexed files of a bot. */
export const search = {
  files: operation({
    id: 'searchFiles',
    method: 'GET',
    path: '/v1/files/search',
    tag: 'Search',
    summary: 'Search the indexed files of a bot',
    description:
      'Best match first. Searches only files that the caller has access to, whose indexing is complete and whose tags match. Text without a letter or digit finds nothing. If a retriever is not available, the others are used, and the header `x-search-degraded` gives the reason: `semantic-pending` while the first vectors of the bot are being created, `semantic-unavailable` without vectors in the database, `embeddings-unavailable` if the embeddings endpoint does not respond.',
    auth: 'bot',
    permission: 'files:read',
    query: Type.Object(searchQuery),
    response: json(
      Type.Object({
        passages: Type.Array(Passage, { description: 'Passages, best match first.' }),
      }),
    ),
  }),
}
