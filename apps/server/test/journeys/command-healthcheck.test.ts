import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { freePort } from '../ports.js'
import { runCommand } from '../processes.js'

describe('botstead healthcheck', () => {
  const server = useServer()

  it('says whether the server at the port is ready', async () => {
    const { port } = new URL(server().url)
    // A public address is not what is examined.
    const environment = { PORT: port, BOTSTEAD_PUBLIC_URL: 'https://bots.invalid' }
    const ready = await runCommand(['healthcheck'], environment)
    expect(ready).toMatchObject({ status: 0, stdout: 'ready\n', stderr: '' })
    const named = await runCommand(['healthcheck', '--url', `${server().url}/`], {})
    expect(named.status).toBe(0)
    const nobody = `http://localhost:${await freePort()}`
    expect(await runCommand(['healthcheck', '--url', nobody], {})).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `not ready: No server responds at ${nobody}/readyz.\n`,
    })
  })

  it('says why a server is not ready, or that it does not respond', async () => {
    const answers = new Map([
      ['/refusing/readyz', { code: 503, message: 'database: it is gone\u001b[2J' }],
      ['/proxy/readyz', undefined],
    ])
    const silent = createServer(({ url = '' }, response) => {
      if (!answers.has(url)) return
      const body = answers.get(url)
      response.writeHead(body === undefined ? 502 : 503)
      response.end(body === undefined ? '<html>Bad gateway</html>' : JSON.stringify(body))
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    try {
      const refusing = await runCommand(['healthcheck', '--url', `${base}/refusing`], {})
      expect(refusing.status).toBe(1)
      expect(refusing.stderr).toContain('not ready: database: it is gone')
      expect(refusing.stderr).not.toContain('\u001b')
      const proxy = await runCommand(['healthcheck', '--url', `${base}/proxy`], {})
      expect(proxy.stderr).toBe(`not ready: ${base}/proxy/readyz returns 502.\n`)
      const waiting = await runCommand(['healthcheck', '--url', base, '--timeout', '0.1'], {})
      expect(waiting).toMatchObject({
        status: 1,
        stderr: `not ready: ${base}/readyz does not respond within 0.1 seconds.\n`,
      })
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  })
})
