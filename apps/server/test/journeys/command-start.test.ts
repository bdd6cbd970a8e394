import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it, vi } from 'vitest'
import { describeSettings } from '../../src/config/config.js'
import { createCommandPlace } from '../command-place.js'
import { readBelow } from '../files-below.js'
import { freePort } from '../ports.js'
import { runCommand, startServerProcess } from '../processes.js'

describe('botstead start', () => {
  it('shows the data for the first call once, and stores the token', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    await using server = await startServerProcess(place.environment)
    // Readiness may be seen before what was written is read.
    await vi.waitFor(() => expect(server.output()).toContain('curl'))
    // The box is what a person reads last.
    expect(server.output().trimEnd().split('\n').at(-1)).toContain('curl')
    expect(server.output()).toMatch(/"steps":\d+,"milliseconds":\d+,"msg":"database migrated"/)
    const value = (name: string) =>
      new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(server.output())?.[1]
    const address = value('address') ?? ''
    const token = value('token') ?? ''
    const workspaceId = value('workspace') ?? ''
    expect(address).toBe(server.url.replace('127.0.0.1', 'localhost'))
    expect(token).toMatch(/^bp_pat_/)
    expect(server.output()).toContain(
      `curl ${address}/v1/admin/bots -H "Authorization: Bearer ${token}" -H 'x-workspace-id: ${workspaceId}'`,
    )
    const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
    const response = await fetch(`${address}/v1/admin/bots`, { headers })
    expect(await response.json()).toEqual({ bots: [], meta: {} })
    const file = join(place.dataDir, 'admin-token')
    expect((await readFile(file, 'utf8')).trim()).toBe(token)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await server.stop()).toBe(0)

    await using again = await startServerProcess(place.environment)
    const known = await fetch(`${again.url}/v1/admin/bots`, { headers })
    expect(known.status).toBe(200)
    expect(await again.stop()).toBe(0)
    expect(again.output()).not.toContain(token)
    expect(again.output()).not.toContain('shown once')
  })

  const hasTerminal = spawnSync('script', ['--version']).error === undefined
  it.skipIf(!hasTerminal)(
    `shows the address and how to sign in on a terminal, also at later starts${hasTerminal ? '' : ' (skipped: no program script here)'}`,
    async () => {
      await using place = await createCommandPlace()
      {
        await using first = await startServerProcess(place.environment)
        expect(await first.stop()).toBe(0)
        expect(first.output().match(/Botstead is ready/g)).toHaveLength(1)
      }
      const port = String(await freePort())
      const child = spawn('script', ['-qec', `"$NODE" "$COMMAND" start`, '/dev/null'], {
        env: {
          ...process.env,
          ...place.environment,
          ...{ NODE: process.execPath, COMMAND: inject('command'), PORT: port },
        },
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const closed = once(child, 'close')
      let written = ''
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        written += chunk.replaceAll('\r', '')
      })
      await vi.waitFor(() => expect(written).toContain('prints a link that signs a browser in.\n'))
      expect(written).toContain(
        `Botstead is ready.\n\n  address      http://localhost:${port}\n  reference    http://localhost:${port}/docs\n  dashboard    http://localhost:${port}/dashboard\n`,
      )
      // Ctrl-C in the terminal.
      child.stdin.write('\u0003')
      await closed
      expect(written).toContain('stopped')
    },
  )

  it('stores nothing when its port is in use, so that the next start is the first', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    const address = occupant.address()
    const port = String(typeof address === 'object' ? address?.port : undefined)
    const environment = { ...place.environment, HOST: '127.0.0.1', PORT: port }
    const { status, stderr } = await runCommand(['start'], environment)
    occupant.close()
    expect(status).toBe(1)
    expect(stderr).toContain(`Port ${port} is in use by another program`)
    await expect(readFile(join(place.dataDir, 'admin-token'))).rejects.toThrow('ENOENT')
    await using server = await startServerProcess(place.environment)
    await vi.waitFor(() => expect(server.output()).toContain('shown once'))
  })

  it('uses the token from the operator', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    const token = 'a-token-for-tests-only'
    await using server = await startServerProcess({
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
    })
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${server.url}/v1/admin/workspaces`, { headers })
    expect(await response.json()).toMatchObject({ workspaces: [{ name: 'Default' }] })
    // Readers of a container's log must not learn it.
    await vi.waitFor(() => expect(server.output()).toContain('curl'))
    expect(server.output()).not.toContain(token)
    expect(server.output()).toContain('the one in BOTSTEAD_ADMIN_TOKEN')
    expect(server.output()).toContain('"Authorization: Bearer $BOTSTEAD_ADMIN_TOKEN"')
  })

  it('lets only its user read its files, also those of an earlier version', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    await chmod(place.dataDir, 0o755)
    const modes = async () => {
      const found = [...(await readBelow(place.dataDir, (path) => stat(path)))]
      const open = found.filter(([, { mode }]) => (mode & 0o077) !== 0)
      return { names: found.map(([name]) => name), open: open.map(([name]) => name) }
    }
    const umask = process.umask(0)
    try {
      {
        await using server = await startServerProcess(place.environment)
        const { names, open } = await modes()
        expect(names).toEqual(
          expect.arrayContaining(['admin-token', 'botstead.db', 'botstead.db-wal', 'secret']),
        )
        expect(open).toEqual([])
        // Without an orderly stop the log of the database stays, for the next start.
        await server.kill()
      }
      const files = ['admin-token', 'botstead.db', 'botstead.db-wal', 'botstead.db-shm', 'secret']
      for (const name of files) await chmod(join(place.dataDir, name), 0o644)
      await using _ = await startServerProcess(place.environment)
      expect((await modes()).open).toEqual([])
    } finally {
      process.umask(umask)
    }
  })
})

describe('botstead without a command', () => {
  it('prints the help, and starts nothing', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    const { status, stdout, stderr } = await runCommand([], place.environment)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('Usage: botstead [options] [command]')
    expect(stdout).toContain('"botstead start" starts the server.')
    expect(await readdir(place.dataDir)).toEqual([])
  })
})

describe('wrong settings', () => {
  const wrong = {
    PORT: 'abc',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://user:hidden@host/database',
    BOTSTEAD_SECRET: 'too short',
    BOTSTEAD_ADMIN_TOKEN: 'short',
    BOTSTEAD_PUBLIC_URL: 'bots.example.com',
    BOTSTEAD_ROLES: 'api,cook',
    BOTSTEAD_RATE_LIMIT: '-1',
    BOTSTEAD_MAX_BODY_BYTES: 'much',
    BOTSTEAD_ALLOWED_ORIGINS: 'https://example.com/path',
  }

  it('stop the start with one line each, and without any other effect', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    const { status, stdout, stderr } = await runCommand(['start'], {
      ...place.environment,
      ...wrong,
    })
    expect(status).toBe(1)
    expect(stdout).toBe('')
    const lines = stderr.trimEnd().split('\n')
    expect(lines.pop()).toBe('Run "npx botstead config --help" for all settings.')
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(Object.keys(wrong).sort())
    for (const line of lines) expect(line).toMatch(/^\w+ accepts .+, not .+\.$/)
    for (const secret of ['hidden', 'too short', 'short"']) expect(stderr).not.toContain(secret)
    expect(await readdir(place.dataDir)).toEqual([])
  })

  it('a missing database, address or folder stops it with the reason', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    await using folder = await createCommandPlace(undefined, { isEmpty: true })
    const file = join(folder.dataDir, 'a-file')
    await writeFile(file, '')
    const [{ status, stderr }, elsewhere, inTheWay] = await Promise.all([
      runCommand(['start'], {
        ...place.environment,
        DATABASE_URL: 'postgres://nobody:hidden@127.0.0.1:1/nothing',
      }),
      runCommand(['start'], { ...folder.environment, HOST: '203.0.113.7' }),
      runCommand(['start'], { BOTSTEAD_DATA_DIR: file }),
    ])
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^The PostgreSQL database of DATABASE_URL cannot be reached: .*ECONNREFUSED/,
    )
    expect(elsewhere).toMatchObject({
      status: 1,
      stderr:
        '203.0.113.7 is no address of this machine: set HOST to one that is, or to 0.0.0.0 for all.\n',
    })
    expect(inTheWay).toMatchObject({
      status: 1,
      stderr: `The data folder ${file} cannot be used: there is a file in its place; move that away, or set BOTSTEAD_DATA_DIR to another folder.\n`,
    })
    expect(stderr).not.toContain('hidden')
    expect(stderr).not.toMatch(/^ +at /m)
  })

  it('reports an unknown setting', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    const misspelt = { BOTSTEAD_DATADIR: '/nowhere' }
    const { status, stderr } = await runCommand(['config'], { ...place.environment, ...misspelt })
    expect(status).toBe(0)
    expect(stderr).toContain('did you mean BOTSTEAD_DATA_DIR?')
  })
})

describe('a closed pipe', () => {
  it('ends a command without a stack', async () => {
    const command = fileURLToPath(new URL('../../bin/botstead.js', import.meta.url))
    const child = spawn(process.execPath, [command, '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    const [[status], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)])
    expect({ status, stderr }).toEqual({ status: 141, stderr: '' })
  })
})

describe('help', () => {
  it('lists every setting', async () => {
    const { status, stdout } = await runCommand(['config', '--help'])
    expect(status).toBe(0)
    for (const { name } of describeSettings())
      expect(stdout).toMatch(new RegExp(`^ +${name} `, 'm'))
  })

  it('lists every command', async () => {
    const { status, stdout } = await runCommand(['--help'])
    expect(status).toBe(0)
    for (const name of ['start', 'demo', 'config', 'token']) expect(stdout).toContain(`  ${name} `)
  })

  it('is suggested for an unknown command', async () => {
    const { status, stderr } = await runCommand(['nonsense'])
    expect(status).toBe(1)
    expect(stderr).toContain('There is no command "nonsense".')
  })
})
