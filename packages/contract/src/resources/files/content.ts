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
      'The URL is the `uploadUrl` of a file; no further credential is needed. It works for 24 hours and accepts one complete upload: an interrupted one can be restarted from the beginning; after a complete one, another is refused (`AlreadyExists`; `ResourceGone` after the key was upserted again or the upload failed). Content that is larger or smaller than declared is refused, and the file states the reason.',
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
