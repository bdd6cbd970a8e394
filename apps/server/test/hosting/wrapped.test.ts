import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../documents.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { deployBot, isRunning, program } from './hosted.js'

const guide = await readDocument('docs/guides/operation.md')
/** The command of the guide for operators. */
const bubblewrap = /^BOTSTEAD_HOSTING_COMMAND="(bwrap .*)"$/m.exec(guide)?.[1] ?? ''
const hasBubblewrap =
  spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0

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

describe.skipIf(!hasBubblewrap)(
  'code in the sandbox of the guide (needs bubblewrap, which may make namespaces)',
  () => {
    const server = useServer(undefined, {
      BOTSTEAD_HOSTING: 'wrapped',
      BOTSTEAD_HOSTING_COMMAND: bubblewrap,
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
