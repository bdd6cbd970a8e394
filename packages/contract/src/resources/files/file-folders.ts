import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { pageOf, paging, Text } from '../../shared.js'

const FileFolder = Type.Object(
  {
    prefix: Type.String({
      description: 'Common prefix of the keys of its files, with the `/` at the end.',
    }),
    files: Type.Integer({ minimum: 1, description: 'Number of files in it and below.' }),
  },
  { title: 'FileFolder', description: 'Files whose keys begin alike.' },
)

/** Folders by the keys of files. */
export const fileFolders = {
  list: operation({
    id: 'listFileFolders',
    method: 'GET',
    path: '/v1/file-folders',
    tag: 'Files',
    summary: 'List the folders of the files of a bot',
    description:
      'A folder is what keys have in common up to a `/`. Lists those directly below `prefix`, in byte order, with the files that the caller has access to; `listFiles` with the same `prefix` lists the files.',
    auth: 'bot',
    permission: 'files:read',
    query: Type.Object({
      ...paging,
      prefix: Type.Optional(
        Text(
          1024,
          'Folders directly below this one, such as `handbook/`; the first ones if omitted.',
        ),
      ),
    }),
    response: json(pageOf('folders', FileFolder, 'Folders in byte order.')),
  }),
}
