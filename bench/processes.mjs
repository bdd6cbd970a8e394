// Starts and stops the measured processes.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { firstMessage, startProgram, startScript, stopped } from './programs.mjs'
import { sized } from './size.mjs'

const benchServer = fileURLToPath(new URL('./server.mjs', import.meta.url))
const bareServer = fileURLToPath(new URL('./bare.mjs', import.meta.url))
const command = fileURLToPath(new URL('../apps/server/bin/botstead.js', import.meta.url))

/** The server with the bench routes: its address, token and workspace, and how to stop it. */
export async function startBenchServer(dataDir, environment = {}) {
  return await start(benchServer, { ...environment, BOTSTEAD_DATA_DIR: dataDir })
}

/** Runs work with a server, and stops it at the end. */
export async function withBenchServer(dataDir, work) {
  const server = await startBenchServer(dataDir)
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

/** The bare framework: its address, and how to stop it. */
export async function startBareServer() {
  return await start(bareServer, {})
}

async function start(script, environment) {
  const child = startScript(script, {
    env: { ...process.env, ...environment },
    execArgv: ['--expose-gc'],
  })
  const facts = await firstMessage(child)
  return {
    ...facts,
    pid: child.pid,
    /** Collects the garbage of the work before, which is not what is measured. */
    collect: async () => {
      child.send('collect')
      await once(child, 'message')
    },
    stop: () => stopped(child, () => child.send('stop')),
  }
}

/** Starts the real command on a data folder; returns the milliseconds until it serves, and its idle memory. */
export async function timeStart(dataDir) {
  const port = await freePort()
  const begin = performance.now()
  const child = startProgram(process.execPath, [command, 'start'], {
    ...process.env,
    BOTSTEAD_DATA_DIR: dataDir,
    PORT: String(port),
    LOG_LEVEL: 'warn',
  })
  try {
    await untilReady(`http://127.0.0.1:${port}/readyz`)
    const milliseconds = performance.now() - begin
    await sleep(sized(3000, 100))
    return { milliseconds, megabytes: await residentMegabytes(child.pid) }
  } finally {
    await stopped(child, () => child.kill('SIGTERM'))
  }
}

/** A port on which nobody listens, from those of the tests, so that no connection gets it meanwhile. */
export async function freePort() {
  const { tsImport } = await import('tsx/esm/api')
  const ports = await tsImport('../apps/server/test/ports.ts', import.meta.url)
  return await ports.freePort()
}

/** Waits until an address responds. */
export async function untilReady(url) {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const ready = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) return
    await sleep(10)
  }
  throw new Error(`${url} does not become ready`)
}

/** The peak memory of a process, in megabytes. */
export async function peakMegabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024)
}

/** The current memory of a process, in megabytes. */
export async function residentMegabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}
