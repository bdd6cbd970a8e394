import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Text } from '../../shared.js'

/** What this server speaks of the tus protocol for resumable uploads. */
export const tus = {
  version: '1.0.0',
  extensions: ['creation', 'creation-with-upload', 'checksum', 'expiration', 'termination'],
  checksumAlgorithms: ['sha256', 'sha1', 'md5'],
  /** Media type of the bytes that are sent. */
  mediaType: 'application/offset+octet-stream',
} as const

const params = Type.Object({
  token: Text(2048, 'Signed, expiring permission to send this content.', 1),
})
const version = Type.Optional(Text(16, 'Version of the protocol: `1.0.0`. Required.'))
const length = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Bytes that follow. More than the upload still takes are refused at once.',
  }),
)
const bytesHeaders = {
  'content-type': Type.Optional(
    Text(128, 'Media type of the bytes: `application/offset+octet-stream`.'),
  ),
  'content-length': length,
  'upload-checksum': Type.Optional(
    Text(
      256,
      'Checksum of the bytes of this request: an algorithm (`sha256`, `sha1` or `md5`), a space, the value in Base64. Bytes that do not match are forgotten (460).',
    ),
  ),
  'x-amz-tagging': Type.Optional(
    Text(256, '`public=true`, under the same condition as for `putContent`.'),
  ),
}
const refusals = ['Forbidden', 'ResourceNotFound', 'AlreadyExists', 'ResourceGone'] as const

/** Uploads that go on after an interruption, by tus 1.0, at the address of the plain upload. */
export const resumable = {
  create: operation({
    id: 'createResumableUpload',
    method: 'POST',
    path: '/uploads/{token}',
    protocol: 'tus',
    tag: 'Files',
    summary: 'Begin to send the content of a file in parts',
    description:
      'The `uploadUrl` of a file is both the endpoint and the address of its one upload, so `Location` is the address that was called, and clients that begin with `HEAD` need not call this. `X-HTTP-Method-Override` with `PATCH` or `DELETE` does what that method does.',
    auth: 'signature',
    params,
    headers: Type.Object({
      'tus-resumable': version,
      'upload-length': Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Bytes of the whole content: as declared when the file was upserted.',
        }),
      ),
      'upload-offset': Type.Optional(
        Type.Integer({ minimum: 0, description: 'With `X-HTTP-Method-Override: PATCH` only.' }),
      ),
      'x-http-method-override': Type.Optional(
        Text(16, 'For networks that let no other method pass: `PATCH` or `DELETE`.'),
      ),
      ...bytesHeaders,
    }),
    upload: 'The first bytes of the content, or nothing.',
    answer: {
      kind: 'headers',
      description:
        '`Location` is the address of the upload, `Upload-Offset` how many bytes are there.',
    },
    status: 201,
    errors: [...refusals, 'InvalidPayload', 'UnsupportedMediaType', 'LimitExceeded'],
  }),
  state: operation({
    id: 'getResumableUpload',
    method: 'HEAD',
    path: '/uploads/{token}',
    protocol: 'tus',
    tag: 'Files',
    summary: 'Ask how much of the content is there',
    description:
      '`Upload-Offset` counts bytes that survive a crash of the server: send the rest from there. A request that still sends to this upload is ended, because its client is most likely gone.',
    auth: 'signature',
    params,
    headers: Type.Object({ 'tus-resumable': version }),
    answer: {
      kind: 'headers',
      description:
        '`Upload-Offset` is how many bytes are there, `Upload-Length` how many there will be, `Upload-Expires` until when they can be sent.',
    },
    status: 200,
    errors: refusals,
  }),
  append: operation({
    id: 'appendToResumableUpload',
    method: 'PATCH',
    path: '/uploads/{token}',
    protocol: 'tus',
    tag: 'Files',
    summary: 'Send the next bytes of the content',
    description:
      'What came before a connection broke is kept. The newest request has the upload: an older one that still sends is ended (`ResourceLockedConflict`). With its last byte the content is complete, and the file leaves `upload_pending` by itself; a content that came in parts takes a moment to be put together.',
    auth: 'signature',
    params,
    headers: Type.Object({
      'tus-resumable': version,
      'upload-offset': Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Where the bytes belong: exactly how many are there (else 409).',
      }),
      ...bytesHeaders,
    }),
    upload: 'The next bytes of the content.',
    answer: { kind: 'headers', description: '`Upload-Offset` is how many bytes are there now.' },
    status: 204,
    errors: [
      ...refusals,
      'RelationConflict',
      'ResourceLockedConflict',
      'InvalidPayload',
      'UnsupportedMediaType',
      'LimitExceeded',
    ],
  }),
  terminate: operation({
    id: 'terminateResumableUpload',
    method: 'DELETE',
    path: '/uploads/{token}',
    protocol: 'tus',
    tag: 'Files',
    summary: 'Give an upload up',
    description:
      'What was sent is removed and the file becomes `upload_failed`; a content it had before goes on being served. Upsert the file for a new address.',
    auth: 'signature',
    params,
    headers: Type.Object({ 'tus-resumable': version }),
    answer: { kind: 'headers', description: 'The upload is gone.' },
    status: 204,
    errors: refusals,
  }),
}
