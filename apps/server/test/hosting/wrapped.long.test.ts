import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readDocument } from '../documents.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { deployBot, isRunning, program } from './hosted.js'

const guide = await readDocument('docs/guides/hosting.md')
/** The command of the guide for operators. */
const bubblewrap = /^BOTSTEAD_HOSTING_COMMAND="(bwrap .*)"$/m.exec(guide)?.[1] ?? ''
/** The script of the guide for containers. */
const inContainer =
  /^```sh\n(#!\/bin\/sh\n# \/usr\/local\/bin\/in-a-container [^`]*)```$/m.exec(guide)?.[1] ?? ''
const hasBubblewrap =
  spawnSync('bwrap', [
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--ro-bind',
    '/',
    '/',
    'true',
  ]).status === 0

const names = ['BP_API_URL', 'BP_LOG_FORMAT', 'BP_TOKEN', 'BP_WEBHOOK_URL', 'LOG_LEVEL']

describe('code whose start is wrapped', () => {
  const server = useServer(undefined, {
    BOTSTEAD_HOSTING: 'wrapped',
    BOTSTEAD_HOSTING_COMMAND:
      '/usr/bin/env -i WRAPPED={id} FOLDER={folder} NODE={node} PROGRAM={program}',
  })

  it('runs in what the command starts, with its own environment', async () => {
    const { call } = await deployBot(
      server(),
      program('return { names: Object.keys(process.env).sort() }'),
    )
    expect(await call()).toEqual({ names })
  })

  it('ends with what the command started', async () => {
    const code = program('if (input.loop) for (;;); return { pid: process.pid }')
    const { admin, bot, call } = await deployBot(server(), code)
    const { pid } = await call()
    const looping = expect(call({ loop: true })).rejects.toMatchObject({ type: 'Runtime' })
    await admin.deleteBot({ id: bot.id })
    await looping
    await eventually(() => expect(isRunning(pid)).toBe(false))
  })
})

describe('code in the container of the guide, with a stand-in for docker', () => {
  const folder = mkdtempSync(join(tmpdir(), 'botstead-container-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  /** As with docker, what it runs is not below it, gets its input, and ends by name only. */
  const docker = `#!/bin/sh
    case $1 in
      run)
        exec 3<&0
        while [ "$1" != --name ]; do shift; done
        name=$2
        while [ "$1" != node ]; do shift; done
        shift
        setsid sh -c 'echo $$ > "$0"; exec "$@"' "${folder}/$name" "${process.execPath}" "$@" <&3 &
        wait $!
        ;;
      kill) kill -KILL "$(cat "${folder}/$2")" ;;
    esac
  `
  writeFileSync(join(folder, 'docker'), docker, { mode: 0o755 })
  const script = inContainer.replaceAll('docker ', `${join(folder, 'docker')} `)
  writeFileSync(join(folder, 'in-a-container'), script, { mode: 0o755 })
  const server = useServer(undefined, {
    BOTSTEAD_HOSTING: 'wrapped',
    BOTSTEAD_HOSTING_COMMAND: `${join(folder, 'in-a-container')} {id} {folder} {program}`,
  })

  it('is ended although it ignores the signal to do so', async () => {
    const { admin, bot, call } = await deployBot(
      server(),
      program(
        'if (input.loop) for (;;); return { pid: process.pid }',
        `process.on('SIGTERM', () => {})`,
      ),
    )
    const { pid } = await call()
    expect(isRunning(pid)).toBe(true)
    const looping = expect(call({ loop: true })).rejects.toMatchObject({ type: 'Runtime' })
    await admin.deleteBot({ id: bot.id })
    await looping
    await eventually(() => expect(isRunning(pid)).toBe(false))
  })
})

describe.skipIf(!hasBubblewrap)(
  'code in the sandbox of the guide (needs bubblewrap, which may make namespaces)',
  () => {
    const server = useServer(undefined, {
      BOTSTEAD_HOSTING: 'wrapped',
      BOTSTEAD_HOSTING_COMMAND: bubblewrap,
      BOTSTEAD_HOSTING_MEMORY_BYTES: String(64 * 2 ** 20),
    })

    it('sees no file, process or environment of the server, and works', async () => {
      const { call } = await deployBot(
        server(),
        program(`
          const fs = require('fs')
          const failure = (attempt) => {
            try { return attempt() ?? 'done' } catch (error) { return error.code ?? String(error) }
          }
          const others = fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
          const ofOthers = others.map((pid) => fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0')[0])
          return {
            names: Object.keys(process.env).sort(),
            data: failure(() => fs.readdirSync(input.dataDir)),
            database: failure(() => fs.readFileSync(input.database)),
            users: failure(() => fs.readFileSync('/etc/shadow')),
            home: failure(() => fs.readdirSync('/root')),
            system: failure(() => fs.writeFileSync('/usr/lib/x', '')),
            host: failure(() => fs.writeFileSync(input.program, '')),
            own: failure(() => fs.writeFileSync('own', '1')),
            full: failure(() => { for (let at = 0; at < 600; at++) fs.appendFileSync('/tmp/full', Buffer.alloc(2 ** 20)) }),
            memory: failure(() => fs.writeFileSync('/dev/shm/x', '')),
            root: failure(() => fs.writeFileSync('/x', '')),
            folder: failure(() => fs.writeFileSync(require('path').dirname(process.argv[2]) + '/x', '')),
            link: failure(() => fs.symlinkSync('/tmp/other', process.argv[2])),
            namespace: require('child_process').spawnSync('unshare', ['--user', 'true']).status,
            processes: [...new Set(ofOthers)],
            started: require('child_process').execFileSync(process.execPath, ['-p', '1 + 1'], { encoding: 'utf8' }).trim(),
            called: (await fetch(process.env.BP_API_URL + '/healthz')).status,
          }
        `),
      )
      const { dataDir } = server().server.config
      const given = { dataDir, database: join(dataDir, 'botstead.db'), program: process.argv[1] }
      expect(await call(given)).toEqual({
        names,
        data: 'ENOENT',
        database: 'ENOENT',
        users: 'ENOENT',
        home: 'ENOENT',
        system: 'EROFS',
        host: expect.stringMatching(/^(EROFS|ENOENT)$/),
        own: 'done',
        full: 'ENOSPC',
        memory: 'EROFS',
        root: 'EROFS',
        folder: 'ENOENT',
        link: 'ENOENT',
        namespace: 1,
        processes: ['bwrap'],
        started: '2',
        called: 200,
      })
    })

    it('finds no folder of the server while it is loaded, where it could put a link that the removal would follow', async () => {
      const code = program(
        'return { found }',
        `
          const fs = require('fs')
          const folder = require('path').dirname(process.argv[2])
          let found = 'nothing'
          try {
            fs.symlinkSync(fs.realpathSync('/usr'), folder + '/link')
            found = 'a place for a link'
          } catch (error) {
            if (error.code !== 'ENOENT') found = error.code
          }
        `,
      )
      // A busy server takes long for each step of a removal.
      const busy = setInterval(() => {
        const end = performance.now() + 30
        while (performance.now() < end);
      })
      const { call } = await deployBot(server(), code).finally(() => clearInterval(busy))
      expect(await call()).toEqual({ found: 'nothing' })
    })

    it('goes behind the server where a processor is busy, with everything that it starts', async () => {
      const { call } = await deployBot(
        server(),
        program(`
          const { execFileSync } = require('child_process')
          const started = execFileSync(process.execPath, ['-p', 'os.getPriority()'], { encoding: 'utf8' })
          return { own: require('os').getPriority(), started: Number(started) }
        `),
      )
      const lower = Math.min(getPriority() + 5, 19)
      expect(await call()).toEqual({ own: lower, started: lower })
    })

    it.concurrent.each([
      [
        'starts processes without end',
        `for (let at = 0; at < 140; at++) spawn('/usr/bin/sh', ['-c', 'read end', input.mark], { detached: true })`,
        /it ran more than 128 processes and threads/,
      ],
      [
        'uses memory in a process of its own',
        `spawn(process.execPath, ['-e', 'const kept = Buffer.alloc(250 * 2 ** 20, 1); setInterval(() => kept, 1000)', input.mark], { detached: true })`,
        /it used \d+ MiB of memory/,
      ],
    ])('is ended as a whole when it %s', async (_, start, reason) => {
      const { bot, call, logs } = await deployBot(
        server(),
        program(`
          const { spawn } = require('child_process')
          ${start}
          return {}
        `),
      )
      const mark = `mark-of-${bot.id}`
      // On a busy machine the program may end before it responds.
      await Promise.allSettled([call({ mark })])
      await eventually(async () =>
        expect(await logs()).toContainEqual(expect.stringMatching(reason)),
      )
      await eventually(() => expect(commandLines()).not.toContain(mark))
    })

    it.concurrent.each([
      ['is loaded', 'start(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', ''],
      ['responds to the ping of its deployment', '', 'start(); await new Promise(() => {})'],
    ])('is ended when it starts processes without end while it %s', async (_, before, onPing) => {
      const { admin, bot } = await deployBot(server(), program('return {}'))
      const mark = `mark-of-${bot.id}`
      const code = `
        const { spawn } = require('child_process')
        const start = () => {
          for (let at = 0; at < 140; at++) spawn('/usr/bin/sh', ['-c', 'read end', '${mark}'], { detached: true })
        }
        ${before}
        exports.handler = async () => { ${onPing} }
      `
      await expect(admin.updateBot({ id: bot.id, code })).rejects.toThrow(
        /it ran more than 128 processes and threads/,
      )
      await eventually(() => expect(commandLines()).not.toContain(mark))
    })

    it('has no descriptor of the server', async () => {
      const { call } = await deployBot(
        server(),
        program(`
          const fs = require('fs')
          const open = fs.readdirSync('/proc/self/fd').flatMap((name) => {
            try { return [fs.readlinkSync('/proc/self/fd/' + name)] } catch { return [] }
          })
          return { open: [...new Set(open.map((target) => target.replace(/\\d+/g, '')))].sort() }
        `),
      )
      const { open } = await call()
      for (const target of open) {
        expect(target).toMatch(/^(anon_inode:.*|socket:\[\]|pipe:\[\]|\/dev\/null|\/proc\/\/fd)$/)
      }
    })

    it('is ended with everything that it started', async () => {
      const { admin, bot, call } = await deployBot(
        server(),
        program(`
          require('child_process').spawn(process.execPath, ['-e', 'for (;;);', input.mark], { detached: true })
          return {}
        `),
      )
      const mark = `mark-of-${bot.id}`
      await call({ mark })
      await eventually(() => expect(commandLines()).toContain(mark))
      await admin.deleteBot({ id: bot.id })
      await eventually(() => expect(commandLines()).not.toContain(mark))
    })
  },
)

/** The command lines of all processes of this machine. */
function commandLines(): string {
  return spawnSync('/bin/sh', ['-c', 'cat /proc/[0-9]*/cmdline 2>/dev/null'], {
    encoding: 'latin1',
    maxBuffer: 2 ** 26,
  }).stdout
}
