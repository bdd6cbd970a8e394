import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startBotProcess } from '../bot-processes.js'
import { connect, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

const server = useServer()

/** A proxy to the server that can be interrupted. */
async function startLine(target: number) {
  const sockets = new Set<Socket>()
  const line = createServer((near) => {
    const far = connectTo(target, '127.0.0.1')
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          near.destroy()
          far.destroy()
        })
    }
  })
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    line.close()
  })
  const address = line.address()
  return { cut, port: typeof address === 'object' ? address?.port : undefined }
}

it('the example that follows a conversation loses and repeats nothing', async () => {
  const { webhookId } = await makeBot(server())
  const ada = await connect(server(), webhookId)
  const { conversation } = await ada.createConversation({})
  const conversationId = conversation.id
  const folder = await mkdtemp(join(tmpdir(), 'botstead-follow-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'last')
  const line = await startLine(Number(new URL(server().url).port))
  const address = `http://127.0.0.1:${line.port}/chat/${webhookId}`
  const words = ['examples/follow/main.mjs', address, ada.user.key, conversationId, file]

  const say = async (...texts: string[]) => {
    for (const text of texts) {
      await ada.createMessage({ conversationId, payload: { type: 'text', text } })
    }
  }
  type Follower = Awaited<ReturnType<typeof startBotProcess>>
  const heard = (follower: Follower) =>
    [...follower.output().matchAll(/"text":"(\w+)"/g)].map(([, text]) => text)
  const hears = (follower: Follower, texts: string[]) =>
    vi.waitFor(() => expect(heard(follower)).toEqual(texts))
  const stored = (number: string) =>
    vi.waitFor(async () => expect(await readFile(file, 'utf8')).toBe(number))

  await say('one')
  const first = await startBotProcess(server(), words, /one/)
  onTestFinished(() => first.kill())
  await say('two')
  await hears(first, ['one', 'two'])
  line.cut()
  await say('three', 'four')
  await hears(first, ['one', 'two', 'three', 'four'])
  line.cut()
  await say('five')
  await hears(first, ['one', 'two', 'three', 'four', 'five'])
  await stored('5')

  await first.kill()
  await say('six')
  const second = await startBotProcess(server(), words, /six/)
  onTestFinished(() => second.kill())
  await say('seven')
  await hears(second, ['six', 'seven'])
  await stored('7')
})
