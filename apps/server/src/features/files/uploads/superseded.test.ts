import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { engines } from '../../../../test/engines.js'
import { send, useFiles } from '../../../../test/files.js'

const size = 2_000_000
const part = ['Tus-Resumable: 1.0.0', 'Content-Type: application/offset+octet-stream']

// On SQLite a claim never waits long: transactions run one after another and await nothing else.
const postgres = engines.filter(({ name }) => name === 'postgres')

describe.each(postgres)('an upload that is taken over while it claims on $name', (engine) => {
  const bench = useFiles(engine)

  /** Begins an upload that sends ten bytes, and blocks its claim until it is released. */
  async function begin(method: string, headers: readonly string[] = []) {
    const { file } = await bench().newBot().as().upsertFile({ key: 'a.bin', size })
    const { promise: released, resolve: release } = withResolvers()
    const { promise: locked, resolve: lock } = withResolvers()
    const holding = bench().database.run(async (tx) => {
      await tx.updateTable('files').set({ id: file.id }).where('id', '=', file.id).execute()
      lock()
      await released
    })
    await locked

    const url = file.uploadUrl
    const { host, hostname, port, pathname } = new URL(url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(String(data)))
    })
    const head = [`${method} ${pathname} HTTP/1.1`, `Host: ${host}`, ...headers]
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${size}\r\n\r\n${'a'.repeat(10)}`)
    // When later requests have responses, the upload has reached its claim.
    for (let i = 0; i < 5; i++) await bench().newBot().as().listFiles({})
    return {
      url,
      answer,
      release: async () => {
        release()
        await holding
      },
    }
  }

  /** Resolves when a running request is notified that a newer one has arrived. */
  function watchTakeover() {
    const abort = vi.spyOn(AbortController.prototype, 'abort')
    onTestFinished(() => abort.mockRestore())
    return () =>
      abort.mock.calls.some(([reason]) => Object(reason).type === 'ResourceLockedConflict')
  }

  it('keeps its bytes, and a request for its state does not wait for more', async () => {
    const isTakenOver = watchTakeover()
    const { url, answer, release } = await begin('PATCH', [...part, 'Upload-Offset: 0'])
    const asking: Promise<Response>[] = []
    await vi.waitFor(() => {
      asking.push(fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } }))
      expect(isTakenOver()).toBe(true)
    })
    await release()
    expect(await answer).toContain('ResourceLockedConflict')
    const offsets = (await Promise.all(asking)).map(({ headers }) => headers.get('upload-offset'))
    expect(offsets).toContain('10')
  })

  it('is superseded by a whole content at once', async () => {
    const isTakenOver = watchTakeover()
    const { url, answer, release } = await begin('PUT')
    const newer = send(url, Buffer.alloc(size))
    await vi.waitUntil(isTakenOver)
    await release()
    expect(await answer).toContain('ResourceLockedConflict')
    expect((await newer).status).toBe(200)
  })
})

function withResolvers() {
  let resolve = (): void => undefined
  const promise = new Promise<void>((resolveIt) => {
    resolve = resolveIt
  })
  return { promise, resolve }
}
