import { Readable } from 'node:stream'
import { operation } from '@botstead/contract'
import { expect, it, onTestFinished } from 'vitest'
import { listenApp } from '../../test/http-app.js'
import { receivedBy, untilClosed } from '../../test/raw-http.js'
import { route } from './mount.js'

const download = operation({
  id: 'download',
  method: 'GET',
  path: '/download',
  tag: 'Service',
  summary: 'Download',
  auth: 'public',
  response: { kind: 'download', description: 'The body.' },
  status: 200,
  errors: [],
})

it('closes the connection when a body ends before its announced length', async () => {
  const listening = await listenApp({
    routes: [
      route(download, async () => ({
        status: 200,
        headers: { 'content-length': 10 },
        open: async () => Readable.from([Buffer.from('short')]),
      })),
    ],
  })
  onTestFinished(async () => await listening.app.close())
  const { client } = await listening.connect()
  const received = receivedBy(client)
  // The second response would be taken for the rest of the first.
  client.write('GET /download HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2))
  await untilClosed(client)
  expect(received().split('HTTP/1.1').length).toBeLessThan(3)
})
