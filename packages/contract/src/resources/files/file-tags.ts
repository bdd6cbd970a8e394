import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { pageOf, paging, Text } from '../../shared.js'

/** Tags of the files of a bot. */
export const fileTags = {
  list: operation({
    id: 'listFileTags',
    method: 'GET',
    path: '/v1/files/tags',
    tag: 'Files',
    summary: 'List the tag names of the files',
    description: 'Each name once, in byte order, from the files that the caller has access to.',
    auth: 'bot',
    query: Type.Object(paging),
    response: json(
      pageOf('tags', Type.String({ description: 'Name of a tag.' }), 'Tag names in byte order.'),
    ),
  }),
  listValues: operation({
    id: 'listFileTagValues',
    method: 'GET',
    path: '/v1/files/tags/{tag}/values',
    tag: 'Files',
    summary: 'List the values of a tag',
    description:
      'Each value once, in byte order, from the files that the caller has access to; empty for a tag that no file has.',
    auth: 'bot',
    params: Type.Object({
      tag: Text(200, 'Name of the tag; a `/` in it is percent-encoded.', 1),
    }),
    query: Type.Object(paging),
    response: json(
      pageOf(
        'values',
        Type.String({ description: 'Value of the tag.' }),
        'Tag values in byte order.',
      ),
    ),
  }),
}
