import { contract } from '@botstead/contract'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { exchange } from '../raw-http.js'
import { expectRefusal, type Refusal } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { fieldsOf } from './contract-fields.js'

const content = 'Every pump leaks.'

type Content = string | ReadableStream

describe('bad input to putContent', () => {
  const server = useServer()
  let own: Tenant
  let fileId: string
  let uploadUrl: string
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const runtime = () => server().client(own)

  /** A file that waits for its content; the same key again invalidates the earlier address. */
  async function upsert(more: object = {}) {
    const { file } = await runtime().upsertFile({ key: 'pump.md', size: content.length, ...more })
    return file
  }

  beforeEach(async () => {
    const file = await upsert()
    fileId = file.id
    uploadUrl = file.uploadUrl
  })

  const put = (url: string, body: Content = content, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'PUT', body, headers, duplex: 'half' })

  /** A PUT with a header that a client would not send. */
  const putSaying = async (length: string) => {
    const { pathname, host } = new URL(uploadUrl)
    const head = `PUT ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`
    const { status, headers, body } = await exchange(server().url, [head])
    return new Response(body, { status, headers })
  }

  const status = async () => (await runtime().getFile({ id: fileId })).file.status

  it('has a case for every header and parameter of the contract', () => {
    expect(fieldsOf(contract.content.put)).toEqual([
      { place: 'headers.x-amz-tagging', kinds: ['long'] },
      { place: 'headers.content-digest', kinds: ['long'] },
      { place: 'headers.content-length', kinds: ['type', 'low', 'high'] },
      { place: 'params.token', kinds: ['long'] },
      { place: 'query.direct', kinds: ['type'] },
    ])
  })

  const invalid = { status: 400, type: 'InvalidPayload' }
  const forbidden = { status: 403, type: 'Forbidden' }
  const refused: [string, () => Promise<Response>, Refusal][] = [
    [
      'a tagging that is too long',
      () => put(uploadUrl, content, { 'x-amz-tagging': 'x'.repeat(257) }),
      { ...invalid, message: 'headers.x-amz-tagging must have at most 256 characters.' },
    ],
    [
      'a digest that is too long',
      () => put(uploadUrl, content, { 'content-digest': 'x'.repeat(513) }),
      { ...invalid, message: 'headers.content-digest must have at most 512 characters.' },
    ],
    [
      'a digest of something else',
      () => put(uploadUrl, content, { 'content-digest': `sha-256=:${'A'.repeat(43)}=:` }),
      { ...invalid, message: /^The content does not have the SHA-256 of the header/ },
    ],
    [
      'a length that is no number',
      () => putSaying('many'),
      { ...invalid, message: /^The request is not valid HTTP \(HPE_INVALID_CONTENT_LENGTH\)\.$/ },
    ],
    [
      'a length below nothing',
      () => putSaying('-1'),
      { ...invalid, message: /^The request is not valid HTTP \(HPE_INVALID_CONTENT_LENGTH\)\.$/ },
    ],
    [
      'a length beyond all numbers',
      () => putSaying('9007199254740993'),
      { ...invalid, message: 'headers.content-length must be at most 9007199254740991.' },
    ],
    [
      'a wish that is neither true nor false',
      () => put(`${uploadUrl}?direct=maybe`),
      { status: 400, type: 'InvalidQuery', message: 'query.direct must be a boolean.' },
    ],
    [
      'an address that is too long',
      () => put(`${server().url}/uploads/${'x'.repeat(2049)}`),
      { ...invalid, message: /^(params\.token|A segment of the path) / },
    ],
    [
      'a forged address',
      () => put(`${server().url}/uploads/nonsense`),
      { ...forbidden, message: /^This upload address is not valid/ },
    ],
    [
      'an address that was changed',
      () => put(uploadUrl.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))),
      { ...forbidden, message: /^This upload address is not valid/ },
    ],
  ]
  it.each(refused)('%s is refused and the address remains valid', async (_, send, refusal) => {
    await expectRefusal(await send(), refusal)
    expect(await status()).toBe('upload_pending')
    expect((await put(uploadUrl)).status).toBe(200)
    expect(await status()).toBe('upload_completed')
  })

  const stream = (text: string) =>
    new ReadableStream({
      start(controller) {
        for (const part of text.match(/.{1,5}/gs) ?? []) controller.enqueue(Buffer.from(part))
        controller.close()
      },
    })

  const larger: Refusal = {
    status: 413,
    type: 'LimitExceeded',
    message: `The content is larger than declared: expected at most ${content.length} bytes.`,
  }
  const smaller: Refusal = {
    ...invalid,
    message: `The content is smaller than declared: received 3 of ${content.length} bytes.`,
  }
  const wrongSizes: [string, () => Content, Refusal][] = [
    ['a byte more than declared', () => `${content}!`, larger],
    ['a byte more than declared, streamed', () => stream(`${content}!`), larger],
    ['less than declared', () => 'pum', smaller],
    ['less than declared, streamed', () => stream('pum'), smaller],
  ]
  it.each(wrongSizes)(
    '%s is refused, and the file contains the reason',
    async (_, body, refusal) => {
      await expectRefusal(await put(uploadUrl, body()), refusal)
      const { file } = await runtime().getFile({ id: fileId })
      expect(file).toMatchObject({ status: 'upload_failed', failedStatusReason: refusal.message })
      await expectRefusal(await put(uploadUrl), {
        status: 410,
        type: 'ResourceGone',
        message: /^This upload address is used up/,
      })
    },
  )

  it('a second content is refused and the first stays', async () => {
    expect((await put(uploadUrl)).status).toBe(200)
    await expectRefusal(await put(uploadUrl, content.toUpperCase()), {
      status: 409,
      type: 'AlreadyExists',
      message: /^The content was sent already/,
    })
    const { file } = await runtime().getFile({ id: fileId })
    expect(await (await fetch(file.url)).text()).toBe(content)
  })

  it('the address of an earlier generation is refused', async () => {
    await upsert()
    await expectRefusal(await put(uploadUrl), {
      status: 410,
      type: 'ResourceGone',
      message: /^This upload address is used up/,
    })
  })

  it('the address of a deleted file is refused', async () => {
    await runtime().deleteFile({ id: fileId })
    await expectRefusal(await put(uploadUrl), {
      status: 404,
      type: 'ResourceNotFound',
      message: 'The file of this upload address does not exist.',
    })
  })

  it.each([
    ['without the tagging', {}],
    ['with another tagging', { 'x-amz-tagging': 'public=false' }],
  ])('a content to be public at once is refused %s', async (_, headers) => {
    const accessPolicies = ['public_content' as const]
    const file = await upsert({ accessPolicies, publicContentImmediatelyAccessible: true })
    await expectRefusal(await put(file.uploadUrl, content, headers), {
      ...invalid,
      message: /^The header x-amz-tagging must be public=true/,
    })
    const tagged = { 'x-amz-tagging': 'public=true' }
    expect((await put(file.uploadUrl, content, tagged)).status).toBe(200)
  })

  it('an address is refused after 24 hours', async () => {
    server().clock.advance(24 * 60 * 60_000 + 1000)
    await expectRefusal(await put(uploadUrl), {
      status: 410,
      type: 'ResourceGone',
      message: /^This upload address worked for 24 hours/,
    })
  })
})
