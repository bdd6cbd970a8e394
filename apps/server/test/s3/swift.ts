import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { S3Address } from '../../src/platform/blobs/s3-address.js'
import { createS3Client } from '../../src/platform/blobs/s3-client.js'

/** The Python that finds packages of Debian; another one in the PATH would not. */
const python = '/usr/bin/python3'
const program = fileURLToPath(new URL('swift-server.py', import.meta.url))
const user = { accessKeyId: 'test:tester', secretAccessKey: 'secret-of-the-bucket/+=' }

/** Swift stores metadata of objects in extended attributes, which not every file system supports. */
const probe = 'import os, sys; os.setxattr(sys.argv[1], "user.swift.probe", b"1")'

/** OpenStack Swift on this machine, with an empty bucket. */
export interface Swift {
  /** Of the bucket, without a prefix. */
  address: S3Address
  close(): Promise<void>
}

/** Whether the Debian package `python3-swift` is installed. */
export function hasSwift(): boolean {
  try {
    execFileSync(python, ['-c', 'import swift.common.middleware.s3api'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Starts Swift in a temporary folder, in memory if possible: it syncs at every write. */
export async function startSwift({ maxParts = 10_000 } = {}): Promise<Swift> {
  const folder = (await makeFolder('/dev/shm')) ?? (await makeFolder(tmpdir()))
  if (folder === undefined) throw new Error(`${tmpdir()} takes no extended attributes`)
  const { accessKeyId, secretAccessKey } = user
  const words = [program, folder, accessKeyId, secretAccessKey, String(maxParts)]
  // The process ends with its input, so it cannot outlive a run that was killed.
  const child = spawn(python, words, { stdio: ['pipe', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const complaints = text(child.stderr)
  const close = async () => {
    child.kill('SIGKILL')
    await exited
    await rm(folder, { recursive: true, force: true })
  }
  const port = await Promise.race([
    once(child.stdout, 'data').then(([line]) => Number(line)),
    exited.then(async () => {
      throw new Error(`Swift does not start:\n${await complaints}`)
    }),
  ])
  const address: S3Address = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    bucket: 'contents',
    prefix: '',
    pathStyle: true,
    ...user,
    sessionToken: undefined,
  }
  try {
    await createS3Client(address).send({ method: 'PUT' })
  } catch (error) {
    await close()
    throw error
  }
  return { address, close }
}

/** A new folder for Swift, undefined where it is unsuitable. */
async function makeFolder(parent: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(parent, 'botstead-swift-')).catch(() => undefined)
  if (folder === undefined) return undefined
  try {
    execFileSync(python, ['-c', probe, folder], { stdio: 'ignore' })
    return folder
  } catch {
    await rm(folder, { recursive: true })
    return undefined
  }
}
