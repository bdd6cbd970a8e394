import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  AnyMapInput,
  Empty,
  FileTagsPatch,
  Id,
  OneOf,
  pageOf,
  paging,
  sortDirection,
  TagFilter,
  TagsInput,
  Text,
  Timestamp,
  wrap,
} from '../../shared.js'
import { accessPolicies, File, fileStatuses, Indexing, UploadableFile } from './file-entity.js'

const IdOrKey = Text(1024, 'Id or key of the file; a `/` in a key is percent-encoded.', 1)

/** Milliseconds that a request may wait for a file. An idle connection is closed after 60 s. */
export const waitTimeoutDefault = 30_000
const maxWaitTimeout = 50_000

/** Files of a bot. */
export const files = {
  upsert: operation({
    id: 'upsertFile',
    method: 'PUT',
    path: '/v1/files',
    tag: 'Files',
    summary: 'Create or update a file',
    description:
      'Creates the metadata of the file; upload the content with PUT to `uploadUrl`. Another call with the same key replaces the file: its previous content and passages stay until the new ones are complete.',
    auth: 'bot',
    permission: 'files:write',
    body: Type.Object({
      key: Text(
        1024,
        'Name of the file, unique in the bot, 1 to 1,024 characters and at most 2,048 bytes of UTF-8.',
        1,
      ),
      size: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Size of the content in bytes. Counts towards the storage quota and, with `index`, towards the vector quota; content of another size is refused.',
      }),
      tags: Type.Optional(
        TagsInput(
          'Tags of the file, each at most 2,048 bytes of UTF-8 in name and value together.',
        ),
      ),
      index: Type.Optional(
        Type.Boolean({
          description:
            'Whether search finds the content; false by default. Not for files above 95 MB.',
        }),
      ),
      indexing: Type.Optional(Indexing),
      accessPolicies: Type.Optional(
        Type.Array(OneOf([...accessPolicies], 'Policy that gives access to the file.'), {
          maxItems: 10,
          description:
            'Policies that give others than the owner access to the file; none by default.',
        }),
      ),
      contentType: Type.Optional(
        Text(
          255,
          'Media type, at most 255 characters; if omitted, derived from the extension of `key`, else `application/octet-stream`.',
        ),
      ),
      expiresAt: Type.Optional(
        Timestamp(
          'Time at which to delete the file, in UTC: in the future, at most 90 days from now; seconds are ignored.',
        ),
      ),
      publicContentImmediatelyAccessible: Type.Optional(
        Type.Boolean({
          description:
            'With `public_content`: the content is readable as soon as it is uploaded. The PUT to `uploadUrl` must then carry `x-amz-tagging: public=true`.',
        }),
      ),
      metadata: Type.Optional(AnyMapInput('Free-form metadata of the file.')),
    }),
    response: json(wrap('file', UploadableFile)),
    errors: ['QuotaExceeded', 'LimitExceeded'],
  }),
  list: operation({
    id: 'listFiles',
    method: 'GET',
    path: '/v1/files',
    tag: 'Files',
    summary: 'List the files of a bot',
    auth: 'bot',
    permission: 'files:read',
    query: Type.Object({
      ...paging,
      sortField: Type.Optional(
        OneOf(
          ['key', 'size', 'createdAt', 'updatedAt', 'status'],
          'Sort field; `createdAt` by default.',
        ),
      ),
      sortDirection: sortDirection('Sort order; `desc`, newest first, by default.'),
      tags: Type.Optional(TagFilter),
      ids: Type.Optional(
        Type.Array(Id('Id of a file.'), {
          maxItems: 50,
          description: 'Only these files; at most 50.',
        }),
      ),
      indexed: Type.Optional(
        Type.Boolean({ description: 'Only files with this value of `index`.' }),
      ),
      prefix: Type.Optional(
        Text(1024, 'Only files whose keys begin with this text, such as `handbook/`.'),
      ),
      text: Type.Optional(
        Text(200, 'Only files whose keys contain this text, regardless of case.'),
      ),
      status: Type.Optional(
        Type.Array(OneOf([...fileStatuses], 'Status of a file.'), {
          maxItems: fileStatuses.length,
          description: 'Only files with one of these statuses.',
        }),
      ),
    }),
    response: json(pageOf('files', File, 'Files in the requested order.')),
  }),
  get: operation({
    id: 'getFile',
    method: 'GET',
    path: '/v1/files/{id}',
    tag: 'Files',
    summary: 'Get a file',
    auth: 'bot',
    permission: 'files:read',
    params: Type.Object({ id: IdOrKey }),
    query: Type.Object({
      waitFor: Type.Optional(
        OneOf(
          ['indexing_completed'],
          'Returns once the indexing has ended, even if it failed, or if the file is not to be indexed; after `timeout`, returns the file in its current state.',
        ),
      ),
      timeout: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: maxWaitTimeout,
          default: waitTimeoutDefault,
          description: `Time to wait in milliseconds, 0 to ${maxWaitTimeout}, ${waitTimeoutDefault} by default; only with \`waitFor\`.`,
        }),
      ),
    }),
    response: json(wrap('file', File)),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateFileMetadata',
    method: 'PUT',
    path: '/v1/files/{id}',
    tag: 'Files',
    summary: 'Update the metadata of a file',
    description:
      'Never changes the content, key, type or index; upsert the file again to do so. An integration can change only its own files.',
    auth: 'bot',
    permission: 'files:write',
    params: Type.Object({ id: IdOrKey }),
    body: Type.Object({
      metadata: Type.Optional(
        AnyMapInput(
          'Merged by key: a value sets an entry, `null` removes it, and entries that are not mentioned stay.',
        ),
      ),
      tags: Type.Optional(
        FileTagsPatch(
          'The result must have at most 200 tags, each at most 2,048 bytes of UTF-8 in name and value together.',
        ),
      ),
      accessPolicies: Type.Optional(
        Type.Array(OneOf([...accessPolicies], 'Policy that gives access to the file.'), {
          maxItems: 10,
          description: 'Replaces the policies; with `[]`, only the owner has access.',
        }),
      ),
      expiresAt: Type.Optional(
        Type.Union(
          [
            Timestamp(
              'Time at which to delete the file, in UTC: in the future, at most 90 days from now; seconds are ignored.',
            ),
            Type.Null(),
          ],
          { description: 'Time at which to delete the file; `null` keeps it.' },
        ),
      ),
    }),
    response: json(wrap('file', File)),
    errors: ['Forbidden', 'LimitExceeded', 'ResourceNotFound'],
  }),
  remove: operation({
    id: 'deleteFile',
    method: 'DELETE',
    path: '/v1/files/{id}',
    tag: 'Files',
    summary: 'Delete a file, its content and its passages',
    auth: 'bot',
    permission: 'files:write',
    params: Type.Object({ id: IdOrKey }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  copy: operation({
    id: 'copyFile',
    method: 'POST',
    path: '/v1/files/{idOrKey}/{destinationKey}',
    tag: 'Files',
    summary: 'Copy a file',
    description:
      'Creates a file with the same content, type, tags, metadata, policies, index and expiry; the caller owns it. The content is not uploaded again, and an indexed file is not processed again. The copy counts towards the quotas of its workspace.',
    auth: 'bot',
    permission: 'files:write',
    params: Type.Object({
      idOrKey: Text(1024, 'Id or key of the file to copy; a `/` in a key is percent-encoded.', 1),
      destinationKey: Text(
        1024,
        'Key of the copy, 1 to 1,024 characters and at most 2,048 bytes of UTF-8; a `/` in it is percent-encoded.',
        1,
      ),
    }),
    headers: Type.Object({
      'x-destination-bot-id': Type.Optional(
        Text(
          200,
          'Id of the bot that receives the copy, if it is another one: the token must be allowed to write there. At most 200 characters.',
        ),
      ),
    }),
    body: Type.Object({
      overwrite: Type.Optional(
        Type.Boolean({
          description:
            'Whether to replace an existing file with this key; if false, the default, the call is refused. With the key of a bot, only files that this bot created are replaced.',
        }),
      ),
    }),
    response: json(wrap('file', File)),
    status: 201,
    errors: [
      'AlreadyExists',
      'Forbidden',
      'QuotaExceeded',
      'ResourceLockedConflict',
      'ResourceNotFound',
    ],
    idempotent: true,
  }),
}
