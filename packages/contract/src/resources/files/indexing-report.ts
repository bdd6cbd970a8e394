import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, Text, wrap } from '../../shared.js'
import { fileStatuses } from './file-entity.js'

/** Kinds of omissions. */
const omissionKinds = [
  'picture_without_text',
  'scanned_page',
  'unreadable_font',
  'unknown_part',
  'missing_part',
  'embedded_file',
  'formula_without_value',
  'other_direction',
  'encoding_in_doubt',
  'hidden_sheet',
  'hidden_text',
  'unknown_symbol',
  'text_cut',
] as const

const count = (description: string) => Type.Integer({ minimum: 0, description })
const number = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, description: `${description}, from 1.` }))

const OmissionPlace = Type.Object(
  {
    page: number('Page'),
    slide: number('Slide'),
    sheet: Type.Optional(Type.String({ description: 'Name of the sheet.' })),
    part: Type.Optional(
      Type.String({
        description: 'Name of the part: an embedded file, an attachment, a chapter.',
      }),
    ),
    line: number('Line of the text'),
  },
  { title: 'OmissionPlace', description: 'A place in the document.' },
)

const Omission = Type.Object(
  {
    kind: OneOf(
      [...omissionKinds],
      '`picture_without_text`: pictures without a description; `scanned_page`: pages that are pictures of text; `unreadable_font`: text whose font does not map its glyphs to characters; `unknown_part`: parts of a type that is not read; `missing_part`: parts that the document refers to and the file does not have; `embedded_file`: embedded files and attachments; `formula_without_value`: formulas without a result; `other_direction`: text that looks like a watermark; `encoding_in_doubt`: text that was read in a guessed encoding; `hidden_sheet`, `hidden_text`: content that the document hides from its readers; `unknown_symbol`: characters of symbol fonts without a known equivalent in Unicode; `text_cut`: text beyond a limit.',
    ),
    count: Type.Integer({ minimum: 1, description: 'Number of occurrences.' }),
    summary: Type.String({
      description: 'Kind, count and places in words, such as `3 scanned pages: pages 2 to 4`.',
    }),
    why: Type.String({ description: 'Reason why it was not read.' }),
    advice: Type.String({ description: 'Advice for the author of the file.' }),
    places: Type.Array(OmissionPlace, {
      description: 'The first places where it occurs, each once, at most 20.',
    }),
    detail: Type.Optional(
      Type.String({
        description: 'Detail of the first occurrence, such as the guessed encoding.',
      }),
    ),
  },
  { title: 'Omission', description: 'Content of one kind that was not read.' },
)

const IndexingReport = Type.Object(
  {
    fileId: Id('Id of the file.'),
    status: OneOf([...fileStatuses], 'Status of the file.'),
    failedStatusReason: Type.Optional(
      Type.String({
        description: 'Reason why the upload or the indexing failed; only after a failure.',
      }),
    ),
    outcome: OneOf(
      ['all_read', 'partly_read', 'not_read', 'unknown'],
      '`all_read`: everything was read that this format supports; `partly_read`: see `omissions`; `not_read`: the file was refused, see `failedStatusReason`, which names the fault or the limit with its value, and what helps; `unknown`: the file is not indexed, an earlier release indexed it (index it again), or a caller set its passages.',
    ),
    count: count('Number of things that were not read: the sum over `omissions`.'),
    omissions: Type.Array(Omission, { description: 'Omissions, one item for each kind.' }),
    parts: Type.Optional(
      Type.Object(
        {
          count: count('Number of them in the document.'),
          unread: count('Number of them of which nothing could be read.'),
        },
        {
          description:
            'Pages, slides, sheets or chapters; absent if the format has none, or all was read.',
        },
      ),
    ),
  },
  { title: 'IndexingReport', description: 'Omissions of the last indexing of a file.' },
)

/** Reports of what indexing did not read. */
export const indexingReports = {
  get: operation({
    id: 'getFileIndexingReport',
    method: 'GET',
    path: '/v1/files/{id}/indexing-report',
    tag: 'Search',
    summary: 'Get the indexing report of a file',
    description:
      'Lists what was not read when the file was last indexed: where, why, and what its author can do. While new content is being indexed, the report is about the previous content, whose passages search still finds.',
    auth: 'bot',
    permission: 'files:read',
    params: Type.Object({
      id: Text(1024, 'Id or key of the file; a `/` in a key is percent-encoded.', 1),
    }),
    response: json(wrap('report', IndexingReport)),
    errors: ['ResourceNotFound'],
  }),
}
