import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Text } from '../../shared.js'

/** The part of the tus protocol for resumable uploads that this server supports. */
export const tus = {
  version: '1.0.0',
  extensions: ['creation', 'creation-with-upload', 'checksum', 'expiration', 'termination'],
  checksumAlgorithms: ['sha256', 'sha1', 'md5'],
  /** Media type of the uploaded bytes. */
  mediaType: 'application/offset+octet-stream',
} as const

const params = Type.Object({
  token: Text(2048, 'Signed, expiring permission to upload this content.', 1),
})
const version = Type.Optional(Text(16, 'Version of the protocol: `1.0.0`. Required.'))
const length = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Number of bytes that follow. More bytes than the upload still needs are refused at once.',
  }),
)
const bytesHeaders = {
  'content-type': Type.Optional(
    Text(128, 'Media type of the body: `application/offset+octet-stream`.'),
  ),
  'content-length': length,
  'upload-checksum': Type.Optional(
    Text(
      256,
      'Checksum of the body: an algorithm (`sha256`, `sha1` or `md5`), a space, and the value in Base64. Bytes that do not match are discarded (460).',
    ),
  ),
  'x-amz-tagging': Type.Optional(
    Text(256, '`public=true`, under the same condition as for `putContent`.'),
  ),
}
const refusals = ['Forbidden', 'ResourceNotFound', 'AlreadyExists', 'ResourceGone'] as const

/** Resumable uploads with tus 1.0, at the URL of the plain upload. */
export const resumable = {
  create: operation({
    id: 'createResumableUpload',
    method: 'POST',
    path: '/uploads/{token}',
    protocol: 'tus',
    tag: 'Files',
    summary: 'Start a resumable upload of the content of a file',
    description:
      'The `uploadUrl` of a file is both the endpoint and the URL of its only upload: `Location` is the URL that was called, and clients that begin with `HEAD` need not call this operation. `X-HTTP-Method-Override` with `PATCH` or `DELETE` selects that method.',
    auth: 'signature',
    params,
    headers: Type.Object({
      'tus-resumable': version,
      'upload-length': Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'Size of the whole content in bytes, as declared when the file was upserted.',
        }),
      ),
      'upload-offset': Type.Optional(
        Type.Integer({ minimum: 0, description: 'Only with `X-HTTP-Method-Override: PATCH`.' }),
      ),
      'x-http-method-override': Type.Optional(
        Text(16, 'For networks that block other methods: `PATCH` or `DELETE`.'),
      ),
      ...bytesHeaders,
    }),
    upload: 'The first bytes of the content, or an empty body.',
    response: {
      kind: 'headers',
      description:
        '`Location` is the URL of the upload, `Upload-Offset` the number of bytes received.',
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
    summary: 'Get the offset of a resumable upload',
    description:
      '`Upload-Offset` counts bytes that survive a crash of the server: continue from there. A request that is still sending to this upload is aborted, because its client is most likely gone.',
    auth: 'signature',
    params,
    headers: Type.Object({ 'tus-resumable': version }),
    response: {
      kind: 'headers',
      description:
        '`Upload-Offset` is the number of bytes received, `Upload-Length` the total size, `Upload-Expires` the time until which bytes are accepted.',
    },
    errors: refusals,
  }),
  append: operation({
    id: 'appendToResumableUpload',
    method: 'PATCH',
    path: '/uploads/{token}',
    protocol: 'tus',
    tag: 'Files',
    summary: 'Send the next bytes of a resumable upload',
    description:
      'Bytes that arrived before a connection broke are kept. The newest request owns the upload: an older one that is still sending is aborted (`ResourceLockedConflict`). With the last byte the content is complete, and the file leaves `upload_pending` automatically; assembling content that arrived in parts takes a moment.',
    auth: 'signature',
    params,
    headers: Type.Object({
      'tus-resumable': version,
      'upload-offset': Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Offset of the body: must equal the number of bytes received (else 409).',
      }),
      ...bytesHeaders,
    }),
    upload: 'The next bytes of the content.',
    response: { kind: 'headers', description: '`Upload-Offset` is the number of bytes received.' },
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
    summary: 'Cancel an upload',
    description:
      'Deletes the uploaded bytes and sets the file to `upload_failed`; its previous content, if any, stays available. Upsert the file to get a new URL.',
    auth: 'signature',
    params,
    headers: Type.Object({ 'tus-resumable': version }),
    response: { kind: 'headers', description: 'The upload was deleted.' },
    status: 204,
    errors: refusals,
  }),
}
