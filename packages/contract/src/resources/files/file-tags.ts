import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { pageOf, paging, Text } from '../../shared.js'

/** Tags that the files of a bot carry. */
export const fileTags = {
  list: operation({
    id: 'listFileTags',
    method: 'GET',
    path: '/v1/files/tags',
    tag: 'Files',
    summary: 'List the names of the tags in use',
    description: 'Each name once, in the order of their bytes, of the files the caller may see.',
    auth: 'bot',
    query: Type.Object(paging),
    answer: {
      kind: 'json',
      schema: pageOf('tags', Type.String({ description: 'Name of a tag.' }), 'Names in order.'),
    },
    status: 200,
    errors: [],
  }),
  listValues: operation({
    id: 'listFileTagValues',
    method: 'GET',
    path: '/v1/files/tags/{tag}/values',
    tag: 'Files',
    summary: 'List the values of a tag',
    description:
      'Each value once, in the order of their bytes, of the files the caller may see; none for a tag that no file carries.',
    auth: 'bot',
    params: Type.Object({
      tag: Text(200, 'Name of the tag; a `/` in it is percent-encoded.', 1),
    }),
    query: Type.Object(paging),
    answer: {
      kind: 'json',
      schema: pageOf(
        'values',
        Type.String({ description: 'Value of the tag.' }),
        'Values in order.',
      ),
    },
    status: 200,
    errors: [],
  }),
}
