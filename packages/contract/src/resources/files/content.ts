import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Empty, Id, Text } from '../../shared.js'

/** Content of files, at URLs that carry their own permission. */
export const content = {
  put: operation({
    id: 'putContent',
    method: 'PUT',
    path: '/uploads/{token}',
    tag: 'Files',
    summary: 'Upload the content of a file',
    description:
      'The URL is the `uploadUrl` of a file; no further credential is needed. It works for 24 hours and accepts one complete upload: an interrupted one can be restarted from the beginning; after a complete one, another is refused (`AlreadyExists`; `ResourceGone` after 24 hours, or after the key was upserted again or the upload failed). Content that is larger or smaller than declared is refused, and the file states the reason.',
    auth: 'signature',
    params: Type.Object({
      token: Text(2048, 'Signed, expiring permission to upload this content.', 1),
    }),
    query: Type.Object({
      direct: Type.Optional(
        Type.Boolean({
          description:
            'With an object store: return 307 with a URL in the store, which accepts content of exactly the declared size for 15 minutes; the upload then completes automatically. Otherwise, and with `x-amz-tagging`, this server accepts the content.',
        }),
      ),
    }),
    headers: Type.Object({
      'x-amz-tagging': Type.Optional(
        Text(
          256,
          '`public=true` if the file was created with `public_content` and `publicContentImmediatelyAccessible`; such content is refused without it.',
        ),
      ),
      'content-digest': Type.Optional(
        Text(
          512,
          'SHA-256 of the content as `sha-256=:<Base64>:` (RFC 9530). Content that does not match is refused, and can be sent again.',
        ),
      ),
      'content-length': Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'Number of bytes that follow. If it is known, a wrong size is refused before the bytes are sent.',
        }),
      ),
    }),
    upload: 'Content of the file, of any media type.',
    response: {
      kind: 'json',
      schema: Empty,
      redirect: 'With `direct`: send the content to the URL in `Location`.',
    },
    errors: [
      'Forbidden',
      'ResourceNotFound',
      'AlreadyExists',
      'ResourceGone',
      'InvalidPayload',
      'LimitExceeded',
    ],
  }),
  get: operation({
    id: 'getContent',
    method: 'GET',
    path: '/content/{fileId}',
    tag: 'Files',
    summary: 'Get the content of a file',
    description:
      'The URL is the `url` of a file. Without the policy `public_content`, it is signed and works for one hour. HEAD is supported. One range returns 206, several ranges return the whole content, and a range outside the content returns 416 without a body. With `public_content`, the content can be read once it is processed, or at once with `publicContentImmediatelyAccessible`. Content that the storage has lost returns 410; uploading it again restores it.',
    auth: 'signature',
    params: Type.Object({ fileId: Id('Id of the file.') }),
    query: Type.Object({
      signature: Type.Optional(Text(512, 'Proof that the server created the URL, and its expiry.')),
      direct: Type.Optional(
        Type.Boolean({
          description:
            'With an object store: GET returns 307 with a URL in the store, which works for 15 minutes. Otherwise this server returns the content.',
        }),
      ),
    }),
    headers: Type.Object({
      range: Type.Optional(Text(256, 'Part of the content, `bytes=<first>-<last>`.')),
      'if-match': Type.Optional(
        Text(
          1024,
          '`ETag` of a copy; returns 412 without a body if the copy is no longer current.',
        ),
      ),
      'if-none-match': Type.Optional(
        Text(1024, '`ETag` of a copy; returns 304 if the copy is still current.'),
      ),
      'if-range': Type.Optional(
        Text(1024, '`ETag` of a copy; `range` applies only if the copy is still current.'),
      ),
    }),
    response: {
      kind: 'download',
      description: 'Content of the file, with the media type of the file.',
      redirect: 'With `direct`: read the content at the URL in `Location`.',
    },
    errors: ['Forbidden', 'ResourceNotFound', 'ResourceGone'],
  }),
}

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
        '`Upload-Offset` is the number of bytes received, `Upload-Length` the total size, `Upload-Expires` the time until which bytes are accepted, and from which on the response is 410.',
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
