import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Empty, OneOf, pageOf, paging, Text, wrap } from '../../shared.js'
import { File } from './file-entity.js'
import { PassageMeta } from './search.js'

/** Characters of a passage that a caller gives. */
const givenPassageLength = 20_000

/** What a passage that a caller gives can be. */
const givenPassageTypes = [
  'title',
  'subtitle',
  'paragraph',
  'blockquote',
  'list',
  'table',
  'code',
  'image',
] as const

/** A passage as it is stored. */
export const FilePassage = Type.Object(
  {
    id: Type.String({ description: 'Id of the passage, a UUID.' }),
    content: Type.String({ description: 'Markdown.' }),
    meta: PassageMeta,
  },
  { title: 'FilePassage', description: 'A part of a file, as search finds it.' },
)

const FileParams = Type.Object({
  id: Text(1024, 'Id or key of the file; a `/` in a key is percent-encoded.', 1),
})

/** The passages of a file: what search finds. */
export const filePassages = {
  list: operation({
    id: 'listFilePassages',
    method: 'GET',
    path: '/v1/files/{id}/passages',
    tag: 'Search',
    summary: 'List the passages of a file',
    description:
      'In reading order. The passages that search finds: while a file is indexed again, those of before.',
    auth: 'bot',
    params: FileParams,
    query: Type.Object({
      ...paging,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          description: 'Passages at most on this page, 1 to 100; the smaller of it and `pageSize`.',
        }),
      ),
    }),
    answer: { kind: 'json', schema: pageOf('passages', FilePassage, 'Passages in reading order.') },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  set: operation({
    id: 'setFilePassages',
    method: 'PUT',
    path: '/v1/files/{id}/passages',
    tag: 'Search',
    summary: 'Replace the passages of a file',
    description:
      'Search finds these passages in place of those that the content of the file has; all change places at once. They stay until they are set again or the content is uploaded again; indexing the file again keeps them. Answers when they are found, or after 30 seconds while they are still written.',
    auth: 'bot',
    params: FileParams,
    bodyLimit: 'large',
    body: Type.Object({
      passages: Type.Array(
        Type.Object(
          {
            content: Text(
              givenPassageLength,
              `Markdown, 1 to ${givenPassageLength} characters. A \`title\` or \`subtitle\` stands above the passages that follow it; so does a passage that begins with a Markdown heading.`,
              1,
            ),
            type: Type.Optional(
              OneOf([...givenPassageTypes], 'What the passage is; `paragraph` by default.'),
            ),
            pageNumber: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 1_000_000,
                description: 'Page on which the passage begins, from 1.',
              }),
            ),
          },
          { title: 'GivenPassage', description: 'A passage of the file.' },
        ),
        {
          maxItems: 100_000,
          description: 'Passages in reading order, at most 5,000 by default; none leaves none.',
        },
      ),
    }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['ResourceNotFound', 'ResourceLockedConflict', 'LimitExceeded', 'QuotaExceeded'],
  }),
  reindex: operation({
    id: 'reindexFile',
    method: 'POST',
    path: '/v1/files/{id}/reindex',
    tag: 'Search',
    summary: 'Index a file again',
    description:
      'Makes the passages anew from the content that is there, also of a file that was not indexed or failed. The passages of before are found until then, and stay if it fails. A file that waits for its indexing goes on waiting.',
    auth: 'bot',
    params: FileParams,
    answer: { kind: 'json', schema: wrap('file', File) },
    status: 200,
    errors: ['ResourceNotFound', 'ResourceLockedConflict', 'QuotaExceeded'],
  }),
}
