import { connect } from 'node:net'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { engines } from '../../../../test/engines.js'
import { send, useFiles } from '../../../../test/files.js'
import { receivedBy } from '../../../../test/raw-http.js'

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
    onTestFinished(release)

    const url = file.uploadUrl
    const { host, hostname, port, pathname } = new URL(url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    const received = receivedBy(socket)
    const head = [`${method} ${pathname} HTTP/1.1`, `Host: ${host}`, ...headers]
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${size}\r\n\r\n${'a'.repeat(10)}`)
    await vi.waitUntil(claimWaits)
    return {
      url,
      received,
      release: async () => {
        release()
        await holding
      },
    }
  }

  /** Whether a transaction waits for a lock of another. */
  async function claimWaits(): Promise<boolean> {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(bench().database.db)
    return rows.length > 0
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
    const { url, received, release } = await begin('PATCH', [...part, 'Upload-Offset: 0'])
    const asking: Promise<Response>[] = []
    await vi.waitFor(() => {
      asking.push(fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } }))
      expect(isTakenOver()).toBe(true)
    })
    await release()
    await vi.waitFor(() => expect(received()).toContain('ResourceLockedConflict'))
    const offsets = (await Promise.all(asking)).map(({ headers }) => headers.get('upload-offset'))
    expect(offsets).toContain('10')
  })

  it('is superseded by a whole content at once', async () => {
    const isTakenOver = watchTakeover()
    const { url, received, release } = await begin('PUT')
    const newer = send(url, Buffer.alloc(size))
    await vi.waitUntil(isTakenOver)
    await release()
    await vi.waitFor(() => expect(received()).toContain('ResourceLockedConflict'))
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
