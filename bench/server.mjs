// The server under load, in a process of its own, with empty routes for comparison.
import { createWriteStream } from 'node:fs'
import { contract, operation } from '@botstead/contract'
import { startServer } from '#server/app/container.js'
import { loadConfig } from '#server/config/config.js'
import { route } from '#server/http/mount.js'
import { createLog } from '#server/platform/telemetry/log.js'

const emptyPost = operation({
  ...contract.chat.createMessage,
  id: 'benchEmptyPost',
  path: '/bench/empty',
  auth: 'public',
  params: undefined,
  response: { kind: 'json', schema: {} },
})
const plainPost = operation({
  ...emptyPost,
  id: 'benchPlainPost',
  path: '/bench/plain',
  body: undefined,
})
const admittedPost = operation({
  ...emptyPost,
  id: 'benchAdmittedPost',
  path: '/bench/admitted',
  auth: 'token',
})
const emptyGet = operation({
  ...contract.service.health,
  id: 'benchEmptyGet',
  path: '/bench/empty',
  response: { kind: 'json', schema: {} },
})

const { config } = loadConfig({ ...process.env, PORT: '0' })
const server = await startServer({
  config,
  log: await createLog({
    level: process.env.BENCH_LOG_LEVEL === 'debug' ? 'debug' : 'warn',
    ...(process.env.BENCH_LOG_LEVEL && { destination: createWriteStream('/dev/null') }),
  }),
  extraRoutes: [plainPost, emptyPost, admittedPost, emptyGet].map((each) =>
    route(each, async () => ({})),
  ),
})
process.send?.({
  address: server.address,
  token: server.firstStart?.token,
  workspaceId: server.firstStart?.workspaceId,
})
// With the benchmark, should that be killed.
process.once('disconnect', () => process.exit())
process.on('message', async (message) => {
  if (message === 'collect') {
    globalThis.gc?.()
    process.send?.('collected')
    return
  }
  await server.stop(5000)
  process.exit(0)
})
