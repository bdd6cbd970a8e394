import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  Empty,
  FileTagsPatch,
  Id,
  pageOf,
  paging,
  TagFilter,
  Tags,
  TagsInput,
  Text,
  Timestamp,
  wrap,
} from '../../shared.js'

const KnowledgeBase = Type.Object(
  {
    id: Id('Id of the knowledge base.'),
    name: Type.String({ description: 'Name of the knowledge base.' }),
    createdAt: Timestamp('Time at which the knowledge base was created.'),
    tags: Tags('Tags of the knowledge base.'),
  },
  {
    title: 'KnowledgeBase',
    description: 'A name for the files that carry its id in the tag `kbId`.',
  },
)

const KnowledgeBaseName = Text(200, 'Name of the knowledge base, 1 to 200 characters.', 1)
const params = Type.Object({ id: Id('Id of the knowledge base.') })

/** Knowledge bases of a bot: groups of files by their tag `kbId`. */
export const knowledgeBases = {
  create: operation({
    id: 'createKnowledgeBase',
    method: 'POST',
    path: '/v1/files/knowledge-bases',
    tag: 'Files',
    summary: 'Create a knowledge base',
    description: 'Files belong to it through their tag `kbId`, which is set like any other tag.',
    auth: 'bot',
    permission: 'files:write',
    body: Type.Object({
      name: KnowledgeBaseName,
      tags: Type.Optional(TagsInput('Tags of the knowledge base.')),
    }),
    response: json(wrap('knowledgeBase', KnowledgeBase)),
    status: 201,
    errors: ['LimitExceeded'],
    idempotent: true,
  }),
  list: operation({
    id: 'listKnowledgeBases',
    method: 'GET',
    path: '/v1/files/knowledge-bases',
    tag: 'Files',
    summary: 'List the knowledge bases of a bot',
    description: 'Newest first.',
    auth: 'bot',
    permission: 'files:read',
    query: Type.Object({ ...paging, tags: Type.Optional(TagFilter) }),
    response: json(pageOf('knowledgeBases', KnowledgeBase, 'Knowledge bases, newest first.')),
  }),
  update: operation({
    id: 'updateKnowledgeBase',
    method: 'PUT',
    path: '/v1/files/knowledge-bases/{id}',
    tag: 'Files',
    summary: 'Update the name or the tags of a knowledge base',
    auth: 'bot',
    permission: 'files:write',
    params,
    body: Type.Object({
      name: KnowledgeBaseName,
      tags: Type.Optional(FileTagsPatch('At most 200 tags in total.')),
    }),
    response: json(wrap('knowledgeBase', KnowledgeBase)),
    errors: ['LimitExceeded', 'ResourceNotFound', 'Forbidden'],
  }),
  remove: operation({
    id: 'deleteKnowledgeBase',
    method: 'DELETE',
    path: '/v1/files/knowledge-bases/{id}',
    tag: 'Files',
    summary: 'Delete a knowledge base',
    description:
      'Its files and their tag `kbId` stay, and search still finds them: list them by that tag to delete them too.',
    auth: 'bot',
    permission: 'files:write',
    params,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}

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
    permission: 'files:read',
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
    permission: 'files:read',
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
