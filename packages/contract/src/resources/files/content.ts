import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Empty, Id, Text } from '../../shared.js'

/** Bytes of files, at addresses that carry their own permission. */
export const content = {
  put: operation({
    id: 'putContent',
    method: 'PUT',
    path: '/uploads/{token}',
    tag: 'Files',
    summary: 'Send the content of a file',
    description:
      'The address is the `uploadUrl` of a file; no further credential is needed. It works for 24 hours and takes one content: an interrupted upload can be sent again from the start, and once the content is there another one is refused (`AlreadyExists`; `ResourceGone` after the key was upserted again or the upload failed). Content that is larger or smaller than declared is refused, and the file says why.',
    auth: 'signature',
    params: Type.Object({
      token: Text(2048, 'Signed, expiring permission to send this content.', 1),
    }),
    query: Type.Object({
      direct: Type.Optional(
        Type.Boolean({
          description:
            'With an object store: answer 307 with an address in the store, which takes a content of exactly the declared size for 15 minutes; the upload then completes by itself. Otherwise, and with `x-amz-tagging`, the content is taken here.',
        }),
      ),
    }),
    headers: Type.Object({
      'x-amz-tagging': Type.Optional(
        Text(
          256,
          '`public=true` when the file was made with `public_content` and `publicContentImmediatelyAccessible`; without it such content is refused.',
        ),
      ),
      'content-digest': Type.Optional(
        Text(
          512,
          'SHA-256 of the content as `sha-256=:<Base64>:` (RFC 9530). Content with another one is refused, and can be sent again.',
        ),
      ),
      'content-length': Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'Bytes that follow. When known, a wrong size is refused before they are sent.',
        }),
      ),
    }),
    upload: 'Content of the file, of any media type.',
    answer: {
      kind: 'json',
      schema: Empty,
      redirect: 'With `direct`: the content is to be sent to the address in `Location`.',
    },
    status: 200,
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
      'The address is the `url` of a file. Without the policy `public_content` it is signed and works for an hour. HEAD is understood too. One range is answered with 206, several with the whole content, one outside the content with 416 and no body. With `public_content` the content can be read once it is processed, or at once with `publicContentImmediatelyAccessible`. Bytes that the storage has lost are 410; sending them again brings them back.',
    auth: 'signature',
    params: Type.Object({ fileId: Id('Id of the file.') }),
    query: Type.Object({
      signature: Type.Optional(
        Text(512, 'Proof that the server made the address, and until when it works.'),
      ),
      direct: Type.Optional(
        Type.Boolean({
          description:
            'With an object store: answer GET with 307 to an address in the store, which works for 15 minutes. Otherwise the content is answered here.',
        }),
      ),
    }),
    headers: Type.Object({
      range: Type.Optional(Text(256, 'Part of the content, `bytes=<first>-<last>`.')),
      'if-match': Type.Optional(
        Text(1024, '`ETag` of a copy; answered with 412 and no body when it is no longer good.'),
      ),
      'if-none-match': Type.Optional(
        Text(1024, '`ETag` of a copy; answered with 304 when it is still good.'),
      ),
      'if-range': Type.Optional(
        Text(1024, '`ETag` of a copy; `range` counts only when it is still good.'),
      ),
    }),
    answer: {
      kind: 'download',
      description: 'Content of the file, of the media type the file has.',
      redirect: 'With `direct`: the content is read at the address in `Location`.',
    },
    status: 200,
    errors: ['Forbidden', 'ResourceNotFound', 'ResourceGone'],
  }),
}
