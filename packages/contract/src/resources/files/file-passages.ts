import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, OneOf, pageOf, paging, Text, wrap } from '../../shared.js'
import { File, Indexing } from './file-entity.js'
import { givenPassageTypes, PassageMeta } from './search.js'

/** Maximum length of a passage that a caller provides, in characters. */
const givenPassageLength = 20_000

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
      'In reading order. Lists the passages that search finds: while a file is being indexed again, the previous ones.',
    auth: 'bot',
    permission: 'files:read',
    params: FileParams,
    query: Type.Object({
      ...paging,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          description:
            'Maximum number of passages per page, 1 to 100; the smaller of this and `pageSize` applies.',
        }),
      ),
    }),
    response: json(pageOf('passages', FilePassage, 'Passages in reading order.')),
    errors: ['ResourceNotFound'],
  }),
  set: operation({
    id: 'setFilePassages',
    method: 'PUT',
    path: '/v1/files/{id}/passages',
    tag: 'Search',
    summary: 'Replace the passages of a file',
    description:
      'Search finds these passages instead of those from the content of the file; all are replaced at once. They stay until they are set again or the content is uploaded again; indexing the file again keeps them. Returns when search finds them, or after 30 seconds while they are still being written.',
    auth: 'bot',
    permission: 'files:write',
    params: FileParams,
    bodyLimit: 'large',
    body: Type.Object({
      passages: Type.Array(
        Type.Object(
          {
            content: Text(
              givenPassageLength,
              `Markdown, 1 to ${givenPassageLength} characters. A \`title\` or \`subtitle\` is a heading of the passages that follow it; so is a passage that begins with a Markdown heading.`,
              1,
            ),
            type: Type.Optional(
              OneOf([...givenPassageTypes], 'Type of the passage; `paragraph` by default.'),
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
          description:
            'Passages in reading order, at most 5,000 by default; an empty list leaves the file without passages.',
        },
      ),
    }),
    response: json(Empty),
    errors: ['ResourceNotFound', 'ResourceLockedConflict', 'LimitExceeded', 'QuotaExceeded'],
  }),
  reindex: operation({
    id: 'reindexFile',
    method: 'POST',
    path: '/v1/files/{id}/reindex',
    tag: 'Search',
    summary: 'Reindex a file',
    description:
      'Creates the passages anew from the stored content, also for a file that was not indexed or whose indexing failed. Search finds the previous passages until then, and keeps them if the indexing fails. A file that waits for its indexing keeps waiting, unless other options are given.',
    auth: 'bot',
    permission: 'files:write',
    params: FileParams,
    bodyOptional: true,
    body: Type.Object({
      indexing: Type.Optional(
        Type.Object(Indexing.properties, {
          description:
            'Options that replace those of the same name, for this indexing and later ones.',
        }),
      ),
    }),
    response: json(wrap('file', File)),
    errors: ['ResourceNotFound', 'ResourceLockedConflict', 'LimitExceeded', 'QuotaExceeded'],
  }),
}
