import { Type } from 'typebox'
import { operation } from '../operation.js'
import { Empty, Id, Text } from '../shared.js'

/** Bytes of files, at addresses that carry their own permission. */
export const content = {
  put: operation({
    id: 'putContent',
    method: 'PUT',
    path: '/uploads/{token}',
    tag: 'Files',
    summary: 'Send the content of a file',
    description:
      'The address is the `uploadUrl` of a file; no further credential is needed. Content that is larger or smaller than declared is refused, and the file says why.',
    auth: 'signature',
    params: Type.Object({
      token: Text(2048, 'Signed, expiring permission to send this content.', 1),
    }),
    headers: Type.Object({
      'x-amz-tagging': Type.Optional(
        Text(
          256,
          '`public=true` when the file was made with `publicContentImmediatelyAccessible`.',
        ),
      ),
    }),
    upload: 'Content of the file, of any media type.',
    result: Empty,
    status: 200,
    errors: ['Forbidden', 'ResourceNotFound', 'ResourceGone', 'InvalidPayload', 'LimitExceeded'],
  }),
  get: operation({
    id: 'getContent',
    method: 'GET',
    path: '/content/{fileId}',
    tag: 'Files',
    summary: 'Get the content of a file',
    description:
      'The address is the `url` of a file. Without the policy `public_content` it is signed and expires.',
    auth: 'signature',
    params: Type.Object({ fileId: Id('Id of the file.') }),
    query: Type.Object({
      expires: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'When the address stops working, in seconds since 1970.',
        }),
      ),
      signature: Type.Optional(Text(512, 'Proof that the server made the address.')),
    }),
    headers: Type.Object({
      range: Type.Optional(Text(256, 'Part of the content, `bytes=<first>-<last>`.')),
      'if-none-match': Type.Optional(
        Text(1024, '`ETag` of a copy; answered with 304 when it is still good.'),
      ),
      'if-range': Type.Optional(
        Text(1024, '`ETag` of a copy; `range` counts only when it is still good.'),
      ),
    }),
    download: 'Content of the file, of the media type the file has.',
    status: 200,
    errors: ['Forbidden', 'ResourceNotFound'],
  }),
}
